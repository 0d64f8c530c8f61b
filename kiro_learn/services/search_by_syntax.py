"""Search by the query syntax of FTS5."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import trio

from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.model.scoring_settings import ScoringSettings
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query, has_words_only
from kiro_learn.retrieval.ranking.signals import Scored, fts5_signal, signals_of
from kiro_learn.services.project_names import NamedProject, ProjectNames
from kiro_learn.services.project_rankings import ProjectRankings
from kiro_learn.services.scored_results import ResultRecords, ScoredResults, Source

FEW_WORDS = 16
"""Queries with more words, mainly with prefixes, may take seconds in a large project."""

LONG_SEARCHES_AT_ONCE = 2
"""Of more than ``FEW_WORDS``: the store has three readers, and lists and other searches need one."""


class SearchBySyntax:
    """Searches the word index by FTS5 queries; without an index or a valid query, it looks up plain words."""

    def __init__(
        self,
        storage: StorageBackend,
        rankings: ProjectRankings,
        projects: ProjectNames,
        clock: ClockAndIds,
        *,
        rebuilder: WordIndexRebuilder,
        scoring: ScoringSettings,
        patience_seconds: float,
    ) -> None:
        self._storage = storage
        self._rankings = rankings
        self._projects = projects
        self._clock = clock
        self._rebuilder = rebuilder
        self._scoring = scoring
        self._patience_seconds = patience_seconds
        self._records = ResultRecords(storage)
        self._long_searches = trio.Semaphore(LONG_SEARCHES_AT_ONCE)

    async def search(
        self, project: str, query: str, *, limit: int, wanted: RecordFilter = EVERYTHING, is_lenient: bool = False
    ) -> ScoredResults:
        """The records that match ``query``, by bm25; ``score`` is that, higher is better.

        ``is_lenient``: a query that does not parse is looked up as plain words, and so is one of nothing but words that
        no record has all of: a question is no expression, and hardly any record has each of its words.

        Raises:
          QuerySyntaxError: it does not parse.
          InvalidRequest: no project can be called so.
          TooSlowError: it takes longer than ``[search] patience_seconds``.
          StorageError: the store cannot be read.
        """
        problem: QuerySyntaxError | None = None
        expression: str | None = None
        try:
            expression = compile_query(query)
        except QuerySyntaxError as error:
            if not is_lenient:
                raise
            problem = error
        with trio.fail_after(self._patience_seconds):
            named = await self._projects.resolve(project)
            ranking = SyntaxRanking(())
            if expression is not None:
                search = SyntaxSearch(namespace=named.namespace, expression=expression, limit=limit, filter=wanted)
                async with self._long_searches if len(query.split()) > FEW_WORDS else nullcontext():
                    ranking = await self._storage.search_syntax(search)
            if ranking.is_index_damaged:
                self._rebuilder.note_damage(named.namespace)
            hits = ranking.hits
            is_question = is_lenient and expression is not None and not hits and has_words_only(query)
            if expression is None or ranking.is_index_damaged or is_question:
                hits = await self._by_plain_words(named, query, limit, wanted)
            scored = self._scored(hits)
            sources: dict[RecordId, Source] = {each.record_id: "keyword" for each in scored}
            results = await self._records.results(scored, sources, {named.namespace: named.name})
        return ScoredResults(
            results=results, degraded=(INDEX_DAMAGED,) if ranking.is_index_damaged else (), problem=problem
        )

    async def _by_plain_words(
        self, named: NamedProject, query: str, limit: int, wanted: RecordFilter
    ) -> tuple[Hit, ...]:
        """Records with any of the query's words, whether or not there is an index."""
        by_words = partial(self._rankings.by_words, named, query[:MOST_CHARACTERS])
        found = await self._rankings.sifted(by_words, limit=limit, wanted=wanted)
        return tuple(hit for hit in found.ranking.hits if hit.record_id in found.wanted)[:limit]

    def _scored(self, hits: tuple[Hit, ...]) -> list[Scored]:
        """With bm25 as the score."""
        best = max((hit.score for hit in hits), default=0.0)
        now = self._clock.utc_now()
        scored = []
        for hit in hits:
            fts5 = fts5_signal(hit.score, best=best, ideal=0.0)
            signals = signals_of(hit.created_at, now, self._scoring, is_same_project=True, fts5=fts5)
            scored.append(Scored(hit.record_id, hit.created_at, hit.score, signals))
        return scored
