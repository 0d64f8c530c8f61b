"""The candidates that a context block may show next to the facts that they contradict, and the items that hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

import attrs

from kiro_learn.learning.graph.predicates import PREDICATES, PREFERENCE_DAYS, cannot_hold_together
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.graph import Evidence, Fact, GraphItem, GraphItemId, Preference, Procedure, Says
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.graph import GraphReads
from kiro_learn.retrieval.graph.block import LEAST_CONFIDENCE, candidate_line
from kiro_learn.retrieval.graph.budget import Line, effective_confidence
from kiro_learn.retrieval.graph.query import GraphQuery, Intent
from kiro_learn.retrieval.query.prose import is_stop_word
from kiro_learn.retrieval.query.time_ranges import TimeRange

# Candidates next to the facts that they contradict.
#
# A candidate is shown, marked as such, right after a current fact that it contradicts, and only if the message asks
# for it. It gets only room that is left over, so no current fact gives way to it.

LOOKED_AT = 20
"""The most candidates that are read for the entities that a message asks about."""
MOST_TOLD = 3


@attrs.frozen
class Candidate:
    """A fact that may hold, and the number of events that say so."""

    fact: Fact
    seen_count: int

    @classmethod
    def of(cls, fact: Fact, evidence: Iterable[Evidence]) -> Candidate:
        """``evidence``: all of it for ``fact``."""
        return cls(fact, max(1, sum(each.says is Says.HOLDS for each in evidence)))

    @property
    def text(self) -> str:
        """The line that shows the candidate."""
        return candidate_line(self.fact, self.seen_count)

    def contradicts(self, fact: Fact | None) -> bool:
        """Whether the candidate and ``fact`` cannot both hold."""
        mine = self.fact
        if (
            fact is None
            or fact.entity_id != mine.entity_id
            or not {fact.predicate, mine.predicate} <= PREDICATES.keys()
        ):
            return False
        return cannot_hold_together((fact.predicate, folded(fact.object)), (mine.predicate, folded(mine.object)))


@attrs.frozen
class CandidateQuestion:
    """Decides which candidates a message asks for."""

    query: GraphQuery
    named: Collection[GraphItemId]
    """The entities that the message names."""
    now: datetime

    def is_asked(self, fact: Fact) -> bool:
        """Whether the message asks about the entity of ``fact``, or names what its predicate says."""
        if self.query.intent is Intent.DO_TASK:
            return False
        asked = {word.removesuffix("s") for word in self.query.keywords}
        words = (word for word in fact.predicate.split("_") if not is_stop_word(word))
        is_about = self.query.intent.asks_what_holds and fact.entity_id in self.named
        return is_about or any(word.removesuffix("s") in asked for word in words)

    async def ask(self, storage: GraphReads, namespace: Namespace, about: Collection[GraphItemId]) -> list[Candidate]:
        """The candidates of the entities ``about`` that the message asks for, the surest first."""
        found = await storage.list_candidate_facts(namespace, about, limit=LOOKED_AT)
        meant = [fact for fact in found if self.is_asked(fact) and self._is_seen(fact)]
        evidence = await storage.get_graph_evidence([fact.item_id for fact in meant]) if meant else {}
        return [Candidate.of(fact, evidence[fact.item_id]) for fact in meant]

    def _is_seen(self, fact: Fact) -> bool:
        """Whether ``fact`` was observed by the time that is asked about, and has not faded since."""
        at, sure = as_of(self.query), confidence_now(fact, self.now)
        return (at is None or fact.validity.observed_at <= at) and sure is not None and sure > LEAST_CONFIDENCE


def with_candidates(
    lines: Sequence[Line],
    facts: Collection[Fact],
    candidates: Iterable[Candidate],
    *,
    fits: Callable[[Sequence[Line]], bool],
) -> list[Line]:
    """``lines`` with the line of each candidate after that of a fact that contradicts it, as long as there is room.

    Args:
      facts: the facts that hold.
    """
    by_id: dict[str, Fact] = {fact.item_id: fact for fact in facts}
    told, beside = list(lines), set[str]()
    for candidate in candidates:
        place = next((place for place, line in enumerate(told, 1) if candidate.contradicts(by_id.get(line.item_id))), 0)
        if not place or len(beside) == MOST_TOLD:
            continue
        line = attrs.evolve(told[place - 1], item_id=candidate.fact.item_id, text=candidate.text, short="")
        while place < len(told) and told[place].item_id in beside:
            place += 1
        longer = [*told[:place], line, *told[place:]]
        if fits(longer):
            told = longer
            beside.add(line.item_id)
    return told


# Which items of the graph hold now, or held at the time that a message names, and how sure they are by now.


def as_of(query: GraphQuery) -> datetime | None:
    """The time for which the message asks what held; None: now."""
    named = query.time_range
    return named.start if named is not None and named.is_validity else None


def happened(query: GraphQuery) -> TimeRange | None:
    """The period in which the events happened that the message asks for; None: it names no such period."""
    named = query.time_range
    return None if named is None or named.is_validity else named


def holds(item: GraphItem, at: datetime | None) -> bool:
    """Whether ``item`` holds now, or held at ``at``. Search by words finds only such items; by meaning, all."""
    if isinstance(item, Fact) and at is not None:
        return item.validity.holds(at) and not item.is_candidate
    return not isinstance(item, Fact | Procedure) or item.is_current


def has_held(fact: Fact) -> bool:
    """Whether ``fact`` ever held: a retired fact and a candidate never did."""
    return fact.validity.retired_at is None and not fact.is_candidate


def confidence_now(item: GraphItem, now: datetime) -> float | None:
    """The confidence that ``item`` has left by ``now``; None: items of this kind have none."""
    if isinstance(item, Fact):
        known = PREDICATES.get(item.predicate)
        days = None if known is None else known.half_life_days
        until = item.validity.valid_until  # a fact that ended stays as sure as it was at its end
        at = now if until is None else min(now, until)
        return effective_confidence(item.confidence, half_life_days=days, confirmed_at=item.last_confirmed_at, now=at)
    return item.confidence if isinstance(item, Procedure) else None


def strength_now(preference: Preference, now: datetime) -> float:
    """The strength that ``preference`` has left by ``now``."""
    return effective_confidence(
        preference.strength,
        half_life_days=PREFERENCE_DAYS,
        confirmed_at=preference.last_confirmed_at,
        now=now,
    )
