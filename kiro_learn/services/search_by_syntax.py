"""Search by the query syntax of FTS5."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import attrs
import trio

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query, has_words_only
from kiro_learn.services.placing import Placer, Places, Wanted

FEW_WORDS = 16
"""Queries with more words, mainly with prefixes, may take seconds in a large project."""

LONG_SEARCHES_AT_ONCE = 2
"""Of more than ``FEW_WORDS``: the store has three readers, and lists and other searches need one."""


class SearchBySyntax:
    """Searches the word index by FTS5 queries; without an index or a valid query, it looks up plain words."""

    def __init__(self, storage: StorageBackend, placer: Placer) -> None:
        self._storage = storage
        self._placer = placer
        self._long_searches = trio.Semaphore(LONG_SEARCHES_AT_ONCE)

    async def search(
        self, namespaces: Sequence[Namespace], query: str, wanted: Wanted, *, until: float
    ) -> tuple[list[Places], QuerySyntaxError | None]:
        """What matches in each project, by bm25; and why ``query`` was looked up as plain words, if it was.

        Raises:
          QuerySyntaxError: it does not parse, and ``wanted`` is not lenient.
          TooSlowError: it takes longer than ``until``.
          StorageError: the store cannot be read.
        """
        expression, problem = None, None
        try:
            expression = compile_query(query)
        except QuerySyntaxError as error:
            if not wanted.is_lenient:
                raise
            problem = error
        found = []
        with trio.fail_at(until):
            for each in namespaces:
                matching = _Matching(each, query, expression, wanted, until, is_home=each == namespaces[0])
                found.append(await self._places(matching))
        return found, problem

    async def _places(self, asked: _Matching) -> Places:
        wanted, ranking = asked.wanted, SyntaxRanking(())
        if asked.expression is not None:
            async with self._long_searches if len(asked.query.split()) > FEW_WORDS else nullcontext():
                ranking = await self._storage.search_syntax(
                    SyntaxSearch(
                        namespace=asked.namespace,
                        expression=asked.expression,
                        limit=wanted.depth,
                        filter=wanted.filter,
                    )
                )
        words = asked.query[:MOST_CHARACTERS]
        is_plain = asked.expression is not None and has_words_only(asked.query)
        is_question = wanted.is_lenient and is_plain and not ranking.hits
        if asked.expression is not None and not ranking.is_index_damaged and not is_question:
            return await self._placer.matches(
                asked.namespace,
                words if is_plain else "",
                ranking.hits,
                wanted,
                until=asked.until,
                is_home=asked.is_home,
            )
        found = await self._placer.places(
            asked.namespace, words, wanted, self._placer.vectors, until=asked.until, is_home=asked.is_home
        )
        if not ranking.is_index_damaged:
            return found
        self._placer.words.rebuilder.note_damage(asked.namespace)
        return attrs.evolve(found, degraded=tuple(dict.fromkeys((*found.degraded, INDEX_DAMAGED))))


@attrs.frozen
class _Matching:
    """A search of one project."""

    namespace: Namespace
    query: str
    expression: str | None
    """None: the query does not parse."""
    wanted: Wanted
    until: float
    is_home: bool = attrs.field(kw_only=True)
