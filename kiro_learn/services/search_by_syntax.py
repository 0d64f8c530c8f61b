"""Search by the query syntax of FTS5."""

from __future__ import annotations

from contextlib import nullcontext

import attrs
import trio

from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record_filter import EVERYTHING
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query, has_words_only
from kiro_learn.services.project_names import NamedProject
from kiro_learn.services.project_rankings import ProjectFindings, ProjectRankings
from kiro_learn.services.scored_results import ScoredResults, Scorer, Source, Wanted, in_turns

FEW_WORDS = 16
"""Queries with more words, mainly with prefixes, may take seconds in a large project."""

LONG_SEARCHES_AT_ONCE = 2
"""Of more than ``FEW_WORDS``: the store has three readers, and lists and other searches need one."""


@attrs.frozen
class _Matches:
    """What matches in one project, best first."""

    hits: tuple[Hit, ...]
    found: ProjectFindings
    """Its ranking by plain words, if the query is of such or has to be looked up so."""
    is_index_damaged: bool


class SearchBySyntax:
    """Searches the word index by FTS5 queries; without an index or a valid query, it looks up plain words."""

    def __init__(
        self,
        storage: StorageBackend,
        rankings: ProjectRankings,
        scorer: Scorer,
        *,
        rebuilder: WordIndexRebuilder,
        patience_seconds: float,
    ) -> None:
        self._storage = storage
        self._rankings = rankings
        self._scorer = scorer
        self._rebuilder = rebuilder
        self._patience_seconds = patience_seconds
        self._long_searches = trio.Semaphore(LONG_SEARCHES_AT_ONCE)

    async def search(self, project: str, query: str, wanted: Wanted, *, is_lenient: bool = False) -> ScoredResults:
        """The records that match ``query``, by bm25; ``score`` is that, higher is better. Of several projects, the
        best of each come first, then the second best of each: their scores do not compare.

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
            asked = await self._scorer.asked(project, wanted)
            matches = [await self._matches(each, query, expression, wanted, is_lenient=is_lenient) for each in asked]
            best = in_turns(
                list(self._scorer.scored(each.found, each.hits, asked[0], lambda hit, _signals: hit.score))
                for each in matches
            )
            sources: dict[RecordId, Source] = {each.record_id: "keyword" for each in best}
            results = await self._scorer.results(best, wanted, sources, asked)
        is_damaged = any(each.is_index_damaged for each in matches)
        return ScoredResults(results=results, degraded=(INDEX_DAMAGED,) if is_damaged else (), problem=problem)

    async def _matches(
        self, project: NamedProject, query: str, expression: str | None, wanted: Wanted, *, is_lenient: bool
    ) -> _Matches:
        ranking = SyntaxRanking(())
        if expression is not None:
            search = SyntaxSearch(
                namespace=project.namespace, expression=expression, limit=wanted.depth, filter=wanted.filter
            )
            async with self._long_searches if len(query.split()) > FEW_WORDS else nullcontext():
                ranking = await self._storage.search_syntax(search)
        if ranking.is_index_damaged:
            self._rebuilder.note_damage(project.namespace)
        is_plain = expression is not None and has_words_only(query)
        is_question = is_lenient and is_plain and not ranking.hits
        if expression is None or ranking.is_index_damaged or is_question:
            found = await self._by_words(project, query, wanted)
            fitting = tuple(hit for hit in found.words.hits if hit.record_id in found.wanted)[: wanted.depth]
            return _Matches(fitting, found, ranking.is_index_damaged)
        if not is_plain:
            return _Matches(ranking.hits, ProjectFindings(project=project), is_index_damaged=False)
        found = await self._by_words(project, query, attrs.evolve(wanted, filter=EVERYTHING))
        return _Matches(ranking.hits, found, is_index_damaged=False)

    async def _by_words(self, project: NamedProject, query: str, wanted: Wanted) -> ProjectFindings:
        """Records with any of the query's words, whether or not there is an index."""
        text = query[:MOST_CHARACTERS]
        return await self._rankings.find_words(project, text, limit=wanted.depth, wanted=wanted.filter)
