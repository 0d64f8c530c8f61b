"""Candidates beside the facts that stand against them.

A candidate is told only where it is asked for, marked, right after a fact that holds and that it contradicts; and only
in room that is left, so that nothing that holds gives way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

import attrs

from kiro_learn.learning.graph.predicates import PREDICATES, cannot_hold_together
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.graph import Evidence, Fact, GraphItemId, Says
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.what_holds import as_of, confidence_now
from kiro_learn.ports.storage.graph import GraphReads
from kiro_learn.retrieval.graph.block import LEAST_CONFIDENCE, candidate_line
from kiro_learn.retrieval.graph.budget import Line
from kiro_learn.retrieval.graph.query import GraphQuery, Intent
from kiro_learn.retrieval.query.stop_words import is_stop_word

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
