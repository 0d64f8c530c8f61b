"""Searches whose results explain their rank: by meaning, and by words and meaning together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import trio

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.model.scoring_settings import ScoringSettings
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.signals import Scored, best_scored, fts5_signal, score_of, signals_of
from kiro_learn.services.project_names import NamedProject, ProjectNames
from kiro_learn.services.project_rankings import EmbeddedQuery, ProjectFindings, ProjectRankings
from kiro_learn.services.scored_results import ResultRecords, ScoredResults, Source

MOST_OTHER_PROJECTS = 50
"""Most other projects that are searched too: those with most events."""


class ScoredSearch:
    """One query layer beside ``Search``: the same rankings, other scores. Each method may raise StorageError."""

    def __init__(
        self,
        storage: StorageBackend,
        rankings: ProjectRankings,
        projects: ProjectNames,
        clock: ClockAndIds,
        *,
        scoring: ScoringSettings,
        threshold: float,
        patience_seconds: float,
    ) -> None:
        self._storage = storage
        self._rankings = rankings
        self._projects = projects
        self._clock = clock
        self._scoring = scoring
        self._threshold = threshold
        self._patience_seconds = patience_seconds
        self._records = ResultRecords(storage)

    async def by_meaning(
        self, project: str, query: str, *, limit: int, threshold: float | None = None
    ) -> ScoredResults:
        """The records whose vectors are nearest to that of ``query``, of all that the project has, from ``threshold``
        on; ``score`` is the cosine.

        Raises:
          EmbeddingError: embedding is off, or the query could not be embedded.
          InvalidRequest: no project can be called so.
          TooSlowError: it takes longer than ``[search] patience_seconds``.
        """
        least = self._threshold if threshold is None else threshold
        with trio.fail_after(self._patience_seconds):
            named = await self._projects.resolve(project)
            ranking = await self._rankings.by_meaning(named, EmbeddedQuery(query), depth=limit)
            now = self._clock.utc_now()
            scored = []
            for hit in ranking.hits:
                if hit.score >= least:
                    signals = signals_of(hit.created_at, now, self._scoring, is_same_project=True, cosine=hit.score)
                    scored.append(Scored(hit.record_id, hit.created_at, hit.score, signals))
            sources: dict[RecordId, Source] = {each.record_id: "vector" for each in scored}
            results = await self._records.results(scored, sources, {named.namespace: named.name})
        return ScoredResults(results=results)

    async def hybrid(
        self,
        project: str,
        query: str,
        *,
        limit: int,
        wanted: RecordFilter = EVERYTHING,
        across_projects: bool = False,
    ) -> ScoredResults:
        """The records that fit ``query`` best by the weighted signals; ``score`` is their mean, knowledge boosted.

        A ranking that is late or fails is named in ``degraded``; its signal is 0 then.

        Args:
          across_projects: also those of this user's other projects.

        Raises:
          InvalidRequest: no project can be called so.
          TooSlowError: nothing came within ``[search] patience_seconds``.
        """
        with trio.fail_after(self._patience_seconds):
            named = await self._projects.resolve(project)
            asked = [named, *(await self._others(named) if across_projects else ())]
            embedded = EmbeddedQuery(query)
            found = [await self._rankings.find(each, embedded, limit=limit, wanted=wanted) for each in asked]
            sources: dict[RecordId, Source] = {}
            scored: list[Scored] = []
            for each in found:
                scored += self._score(each, named, sources)
            best = best_scored(await self._boosted(scored), limit=limit)
            names = {each.namespace: each.name for each in asked}
            results = await self._records.results(best, sources, names)
        return ScoredResults(
            results=results, degraded=tuple(dict.fromkeys(each for one in found for each in one.degraded))
        )

    async def _others(self, named: NamedProject) -> Sequence[NamedProject]:
        """This user's other projects; none beside a project of another user."""
        if not self._projects.is_of_user(named.namespace):
            return ()
        names = await self._projects.names()
        others = [NamedProject(namespace, name) for namespace, name in names.items() if namespace != named.namespace]
        return others[:MOST_OTHER_PROJECTS]

    def _score(self, found: ProjectFindings, asked: NamedProject, sources: dict[RecordId, Source]) -> list[Scored]:
        """Every wanted record that either ranking found, with all of its signals; ``sources`` gets which one did."""
        words = {hit.record_id: hit for hit in found.words.hits}
        vectors = {hit.record_id: hit for hit in found.vectors.hits}
        cosines = {record_id: hit.score for record_id, hit in vectors.items()}
        if found.vectors.standings is not None:
            cosines |= found.vectors.standings.cosines(words.keys() - vectors.keys())
        best = max((hit.score for hit in found.words.hits), default=0.0)
        now = self._clock.utc_now()
        scored = []
        for record_id in found.wanted:
            hit = words.get(record_id) or vectors[record_id]
            bm25 = words[record_id].score if record_id in words else 0.0
            signals = signals_of(
                hit.created_at,
                now,
                self._scoring,
                is_same_project=found.project.namespace == asked.namespace,
                cosine=cosines.get(record_id, 0.0),
                fts5=fts5_signal(bm25, best=best, ideal=found.words.ideal_score),
            )
            sources[record_id] = _source(record_id, words, vectors)
            scored.append(Scored(record_id, hit.created_at, score_of(signals, self._scoring), signals))
        return scored

    async def _boosted(self, scored: Sequence[Scored]) -> list[Scored]:
        """``scored``, with boosted scores of knowledge."""
        knowledge = await self._storage.get_knowledge_ids([each.record_id for each in scored])
        return [
            attrs.evolve(each, score=score_of(each.signals, self._scoring, is_knowledge=True), is_knowledge=True)
            if each.record_id in knowledge
            else each
            for each in scored
        ]


def _source(record_id: RecordId, words: Mapping[RecordId, Hit], vectors: Mapping[RecordId, Hit]) -> Source:
    if record_id in words and record_id in vectors:
        return "hybrid"
    return "keyword" if record_id in words else "vector"
