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
from kiro_learn.ports.storage.records import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query, has_words_only
from kiro_learn.services.placing import Asked, Placer, Places

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
        self, namespaces: Sequence[Namespace], asked: Asked
    ) -> tuple[list[Places], QuerySyntaxError | None]:
        """What matches in each project, by bm25; and why the query was looked up as plain words, if it was.

        Raises:
          QuerySyntaxError: it does not parse, and the search is not lenient.
          TooSlowError: it takes longer than it may.
          StorageError: the store cannot be read.
        """
        expression, problem = None, None
        try:
            expression = compile_query(asked.query)
        except QuerySyntaxError as error:
            if not asked.wanted.is_lenient:
                raise
            problem = error
        asked = attrs.evolve(asked, query=asked.query[:MOST_CHARACTERS])
        with trio.fail_at(asked.until):
            return [await self._places(each, asked, expression) for each in namespaces], problem

    async def _places(self, namespace: Namespace, asked: Asked, expression: str | None) -> Places:
        wanted, ranking = asked.wanted, SyntaxRanking(())
        if expression is not None:
            search = SyntaxSearch(namespace=namespace, expression=expression, limit=wanted.depth, filter=wanted.filter)
            async with self._long_searches if len(asked.query.split()) > FEW_WORDS else nullcontext():
                ranking = await self._storage.search_syntax(search)
        is_plain = expression is not None and has_words_only(asked.query)
        is_question = wanted.is_lenient and is_plain and not ranking.hits
        if expression is not None and not ranking.is_index_damaged and not is_question:
            return await self._placer.matches(namespace, asked, ranking.hits, are_of_words=is_plain)
        if ranking.is_index_damaged:
            self._placer.words.rebuilder.note_damage(namespace)
        found = await self._placer.places(namespace, asked)
        damaged = (INDEX_DAMAGED,) if ranking.is_index_damaged else ()
        return attrs.evolve(found, degraded=tuple(dict.fromkeys((*damaged, *found.degraded))))
