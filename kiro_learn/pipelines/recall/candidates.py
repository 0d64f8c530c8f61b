"""What a context block may tell: memories beside the facts that stand against them, and what of the graph holds."""

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

# Candidates beside the facts that stand against them.
#
# A candidate is told only where it is asked for, marked, right after a fact that holds and that it contradicts; and
# only in room that is left, so that nothing that holds gives way to it.

LOOKED_AT = 20
"""Candidates of the entities that a message asks about."""
MOST_TOLD = 3


@attrs.frozen
class Candidate:
    """A fact that may hold, and how many events say so."""

    fact: Fact
    seen_count: int

    @classmethod
    def of(cls, fact: Fact, evidence: Iterable[Evidence]) -> Candidate:
        """``evidence``: all of it."""
        return cls(fact, max(1, sum(each.says is Says.HOLDS for each in evidence)))

    @property
    def text(self) -> str:
        """As it is told."""
        return candidate_line(self.fact, self.seen_count)

    def contradicts(self, fact: Fact | None) -> bool:
        """Whether both cannot hold."""
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
    """What a message asks of candidates."""

    query: GraphQuery
    named: Collection[GraphItemId]
    """The entities that it names."""
    now: datetime

    def is_asked(self, fact: Fact) -> bool:
        """Whether the message asks about its entity, or for what its predicate says."""
        if self.query.intent is Intent.DO_TASK:
            return False
        asked = {word.removesuffix("s") for word in self.query.keywords}
        words = (word for word in fact.predicate.split("_") if not is_stop_word(word))
        is_about = self.query.intent.asks_what_holds and fact.entity_id in self.named
        return is_about or any(word.removesuffix("s") in asked for word in words)

    async def ask(self, storage: GraphReads, namespace: Namespace, about: Collection[GraphItemId]) -> list[Candidate]:
        """The candidates of these entities that are asked for, the surest first."""
        found = await storage.list_candidate_facts(namespace, about, limit=LOOKED_AT)
        meant = [fact for fact in found if self.is_asked(fact) and self._is_seen(fact)]
        evidence = await storage.get_graph_evidence([fact.item_id for fact in meant]) if meant else {}
        return [Candidate.of(fact, evidence[fact.item_id]) for fact in meant]

    def _is_seen(self, fact: Fact) -> bool:
        """By then, and it did not fade since."""
        at, sure = as_of(self.query), confidence_now(fact, self.now)
        return (at is None or fact.validity.observed_at <= at) and sure is not None and sure > LEAST_CONFIDENCE


def with_candidates(
    lines: Sequence[Line],
    facts: Collection[Fact],
    candidates: Iterable[Candidate],
    *,
    fits: Callable[[Sequence[Line]], bool],
) -> list[Line]:
    """``lines`` with a line for each candidate right after that of a fact that it contradicts, as long as that fits.

    Args:
      facts: those that hold.
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


# What of the graph holds now, or held at the time that a message names, and how sure it is by now.


def as_of(query: GraphQuery) -> datetime | None:
    """The time at which what is asked for held; None: now."""
    named = query.time_range
    return named.start if named is not None and named.is_validity else None


def happened(query: GraphQuery) -> TimeRange | None:
    """When what is asked for happened; None: the message names no such time."""
    named = query.time_range
    return None if named is None or named.is_validity else named


def holds(item: GraphItem, at: datetime | None) -> bool:
    """Whether it holds now, or held then. Words find only such items; meaning finds past ones too."""
    if isinstance(item, Fact) and at is not None:
        return item.validity.holds(at) and not item.is_candidate
    return not isinstance(item, Fact | Procedure) or item.is_current


def has_held(fact: Fact) -> bool:
    """What was retired, or is a candidate, never held."""
    return fact.validity.retired_at is None and not fact.is_candidate


def confidence_now(item: GraphItem, now: datetime) -> float | None:
    """What is left of it; None: it has none."""
    if isinstance(item, Fact):
        known = PREDICATES.get(item.predicate)
        days = None if known is None else known.half_life_days
        until = item.validity.valid_until  # what ended is as sure as it was then
        at = now if until is None else min(now, until)
        return effective_confidence(item.confidence, half_life_days=days, confirmed_at=item.last_confirmed_at, now=at)
    return item.confidence if isinstance(item, Procedure) else None


def strength_now(preference: Preference, now: datetime) -> float:
    """What is left of it."""
    return effective_confidence(
        preference.strength,
        half_life_days=PREFERENCE_DAYS,
        confirmed_at=preference.last_confirmed_at,
        now=now,
    )
