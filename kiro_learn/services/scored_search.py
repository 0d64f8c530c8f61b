"""Searches whose results explain their rank: by meaning, and by words and meaning together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import trio

from kiro_learn.errors import EmbeddingError, EmbeddingOff
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.signals import (
    KNOWLEDGE_FLOOR,
    NEAR,
    Scored,
    Signals,
    best_scored,
    relevance,
    score_of,
)
from kiro_learn.services.project_names import NamedProject
from kiro_learn.services.project_rankings import EmbeddedQuery, ProjectFindings, ProjectRankings
from kiro_learn.services.scored_results import ScoredResults, Scorer, Source, Wanted, distinct, sources_of


class ScoredSearch:
    """One query layer beside ``Search``: the same rankings, other scores. Each method may raise StorageError."""

    def __init__(
        self,
        storage: StorageBackend,
        rankings: ProjectRankings,
        scorer: Scorer,
        *,
        threshold: float,
        patience_seconds: float,
    ) -> None:
        self._storage = storage
        self._rankings = rankings
        self._scorer = scorer
        self._threshold = threshold
        self._patience_seconds = patience_seconds

    async def by_meaning(
        self, project: str, query: str, wanted: Wanted, *, threshold: float | None = None
    ) -> ScoredResults:
        """The records whose vectors are nearest to that of ``query``, of all that the project has, from ``threshold``
        on; ``score`` is the cosine.

        Raises:
          EmbeddingError: embedding is off, or the query could not be embedded.
          InvalidRequest: no project can be called so.
          TooSlowError: it takes longer than ``[search] patience_seconds``.
        """
        if not self._rankings.embeds:
            raise EmbeddingOff(hint="Search with /api/search.")
        least = self._threshold if threshold is None else threshold
        with trio.fail_after(self._patience_seconds):
            asked = await self._scorer.asked(project, wanted)
            scored: list[Scored] = []
            for found in await self._find(asked, query, wanted):
                if found.without_vectors:
                    raise EmbeddingError("; ".join(found.without_vectors), hint="Search with /api/search.")
                near = [hit for hit in found.vectors.hits if hit.score >= least and hit.record_id in found.wanted]
                scored += self._scorer.scored(found, near, asked[0], lambda hit, _signals: hit.score)
            best = best_scored(scored, limit=wanted.depth)
            sources: dict[RecordId, Source] = {each.record_id: "vector" for each in best}
            results = await self._scorer.results(best, wanted, sources, asked)
        return ScoredResults(results=results)

    async def hybrid(self, project: str, query: str, wanted: Wanted) -> ScoredResults:
        """The records that fit ``query`` best by the weighted signals; ``score`` is their mean, boosted for knowledge
        that has to do with the query.

        A ranking that is late or fails is named in ``degraded``; its signal is not known then.

        Raises:
          InvalidRequest: no project can be called so.
          TooSlowError: nothing came within ``[search] patience_seconds``.
        """
        with trio.fail_after(self._patience_seconds):
            asked = await self._scorer.asked(project, wanted)
            scored: list[Scored] = []
            sources: dict[RecordId, Source] = {}
            degraded: list[str] = []
            for found in await self._find(asked, query, wanted):
                hits = {hit.record_id: hit for hit in (*found.words.hits, *found.vectors.hits)}
                fitting = [hit for record_id, hit in hits.items() if record_id in found.wanted]
                scored += self._scorer.scored(found, fitting, asked[0], self._score)
                sources |= sources_of(found)
                degraded += found.degraded
            best = best_scored(await self._boosted(scored), limit=wanted.depth)
            results = await self._scorer.results(best, wanted, sources, asked)
        nearest = max((relevance(each.signals, self._scorer.settings.weights) for each in scored), default=1.0)
        return ScoredResults(results=results, degraded=distinct(degraded), is_nothing_near=nearest < NEAR)

    async def _find(self, asked: Sequence[NamedProject], query: str, wanted: Wanted) -> list[ProjectFindings]:
        embedded = EmbeddedQuery(query)
        return [await self._rankings.find(each, embedded, limit=wanted.depth, wanted=wanted.filter) for each in asked]

    def _score(self, _hit: Hit, signals: Signals) -> float:
        return score_of(signals, self._scorer.settings)

    async def _boosted(self, scored: Sequence[Scored]) -> list[Scored]:
        """``scored``, with boosted scores of the knowledge that has to do with the query."""
        settings = self._scorer.settings
        relevant = [each.record_id for each in scored if relevance(each.signals, settings.weights) >= KNOWLEDGE_FLOOR]
        knowledge = await self._storage.get_knowledge_ids(relevant)
        return [
            attrs.evolve(each, score=score_of(each.signals, settings, is_knowledge=True))
            if each.record_id in knowledge
            else each
            for each in scored
        ]
