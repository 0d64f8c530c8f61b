"""Searches whose results say how they came to their place: by the syntax of FTS5, by meaning, and by both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs
import trio

from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.config import SearchConfig
from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query
from kiro_learn.retrieval.ranking.signals import Scored, Signals, best_scored
from kiro_learn.services.project_names import NamedProject, ProjectNames
from kiro_learn.services.project_rankings import EmbeddedQuery, ProjectRankings
from kiro_learn.services.record_scoring import RecordScoring, Source

LEAST_DEPTH = 100
DEPTH_MULTIPLIER = 5
"""Hits of either ranking that are scored: a multiple of the limit, but not so few, since knowledge is lifted."""

MOST_OTHER_PROJECTS = 50
"""That are searched beside the one that was asked about: those with most events."""


@attrs.frozen(kw_only=True)
class ScoredResult:
    """A record that was found, and why it stands where it does."""

    record: MemoryRecord
    project: str
    score: float
    source: Source
    """Which rankings found it: both, or one of them."""
    signals: Signals


@attrs.frozen(kw_only=True)
class ScoredResults:
    """Best first."""

    results: tuple[ScoredResult, ...]
    degraded: tuple[str, ...] = ()
    """Why there may be more, or a better order."""
    problem: QuerySyntaxError | None = None
    """Why the query was looked up as plain words."""


class ScoredSearch:
    """One query layer beside ``Search``: the same rankings, other scores. Each method may raise StorageError."""

    def __init__(
        self,
        storage: StorageBackend,
        rankings: ProjectRankings,
        projects: ProjectNames,
        clock: ClockAndIds,
        *,
        rebuilder: WordIndexRebuilder,
        config: SearchConfig,
    ) -> None:
        self._storage = storage
        self._rankings = rankings
        self._projects = projects
        self._clock = clock
        self._rebuilder = rebuilder
        self._config = config

    async def by_syntax(
        self, project: str, query: str, *, limit: int, wanted: RecordFilter = EVERYTHING, is_lenient: bool = False
    ) -> ScoredResults:
        """The records that match ``query``, by bm25; ``score`` is that, higher is better.

        ``is_lenient``: a query that does not parse is looked up as plain words.

        Raises:
          QuerySyntaxError: it does not parse.
          InvalidRequest: no project can be called so.
          TooSlowError: it takes longer than ``[search] patience_seconds``.
        """
        problem: QuerySyntaxError | None = None
        expression = ""
        try:
            expression = compile_query(query)
        except QuerySyntaxError as error:
            if not is_lenient:
                raise
            problem = error
        with trio.fail_after(self._config.patience_seconds):
            named = await self._projects.resolve(project)
            search = SyntaxSearch(namespace=named.namespace, expression=expression, limit=limit, filter=wanted)
            hits: tuple[Hit, ...] = ()
            is_damaged = False
            if problem is None:
                ranking = await self._storage.search_syntax(search)
                hits, is_damaged = ranking.hits, ranking.is_index_damaged
            if problem is not None or is_damaged:
                hits = await self._by_plain_words(named, query, limit, wanted)
            if is_damaged:
                self._rebuilder.note_damage(named.namespace)
            results = await self._keyword_results(named, hits)
        return ScoredResults(results=results, degraded=(INDEX_DAMAGED,) if is_damaged else (), problem=problem)

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
        least = self._config.semantic_threshold if threshold is None else threshold
        with trio.fail_after(self._config.patience_seconds):
            named = await self._projects.resolve(project)
            ranking = await self._rankings.by_meaning(named, EmbeddedQuery(query), depth=limit)
            scored = self._scoring(named).by_meaning(ranking.hits, least=least)
            records = await self._records(scored)
        sources: dict[RecordId, Source] = {each.record_id: "vector" for each in scored}
        return ScoredResults(results=_results(scored, records, sources, {named.namespace: named.name}))

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
        with trio.fail_after(self._config.patience_seconds):
            named = await self._projects.resolve(project)
            asked = [named, *(await self._others(named) if across_projects else ())]
            embedded = EmbeddedQuery(query)
            found = [await self._rankings.find(each, embedded, depth=_depth_for(limit)) for each in asked]
            scoring = self._scoring(named)
            scored = [each for findings in found for each in scoring.by_all(findings)]
            sources = {each.record_id: source for each, source in scored}
            fitting = await self._wanted([each for each, _ in scored], wanted)
            best = best_scored(await self._boosted(fitting), limit=limit)
            records = await self._records(best)
        names = {each.namespace: each.name for each in asked}
        degraded = tuple(dict.fromkeys(reason for each in found for reason in each.degraded))
        return ScoredResults(results=_results(best, records, sources, names), degraded=degraded)

    def _scoring(self, asked: NamedProject) -> RecordScoring:
        return RecordScoring(asked.namespace, self._clock.utc_now(), self._config)

    async def _others(self, named: NamedProject) -> Sequence[NamedProject]:
        names = await self._projects.names()
        others = [NamedProject(namespace, name) for namespace, name in names.items() if namespace != named.namespace]
        return others[:MOST_OTHER_PROJECTS]

    async def _wanted(self, scored: Sequence[Scored], wanted: RecordFilter) -> Sequence[Scored]:
        if wanted == EVERYTHING:
            return scored
        records = await self._records(scored)
        return [each for each in scored if each.record_id in records and wanted.fits(records[each.record_id])]

    async def _boosted(self, scored: Sequence[Scored]) -> list[Scored]:
        knowledge = await self._storage.get_knowledge_ids([each.record_id for each in scored])
        boost = self._config.knowledge_boost
        return [
            attrs.evolve(each, score=each.score * boost, is_knowledge=True) if each.record_id in knowledge else each
            for each in scored
        ]

    async def _by_plain_words(
        self, named: NamedProject, query: str, limit: int, wanted: RecordFilter
    ) -> tuple[Hit, ...]:
        """Records with any of the query's words, whether or not there is an index."""
        depth = limit if wanted == EVERYTHING else _depth_for(limit)
        hits = (await self._rankings.by_words(named, query[:MOST_CHARACTERS], depth=depth)).hits
        if wanted != EVERYTHING:
            records = await self._storage.get_memory_records([hit.record_id for hit in hits])
            fitting = {record.record_id for record in records if wanted.fits(record)}
            hits = tuple(hit for hit in hits if hit.record_id in fitting)
        return hits[:limit]

    async def _keyword_results(self, named: NamedProject, hits: tuple[Hit, ...]) -> tuple[ScoredResult, ...]:
        scored = self._scoring(named).by_words(hits)
        sources: dict[RecordId, Source] = {hit.record_id: "keyword" for hit in hits}
        return _results(scored, await self._records(scored), sources, {named.namespace: named.name})

    async def _records(self, scored: Iterable[Scored]) -> dict[RecordId, MemoryRecord]:
        records = await self._storage.get_memory_records([each.record_id for each in scored])
        return {record.record_id: record for record in records}


def _depth_for(limit: int) -> int:
    return max(LEAST_DEPTH, DEPTH_MULTIPLIER * limit)


def _results(
    scored: Iterable[Scored],
    records: Mapping[RecordId, MemoryRecord],
    sources: Mapping[RecordId, Source],
    names: Mapping[Namespace, str],
) -> tuple[ScoredResult, ...]:
    """Without those that went meanwhile, or cannot be read."""
    return tuple(
        ScoredResult(
            record=records[each.record_id],
            project=names[records[each.record_id].namespace],
            score=each.score,
            source=sources[each.record_id],
            signals=each.signals,
        )
        for each in scored
        if each.record_id in records
    )
