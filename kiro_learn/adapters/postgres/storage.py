"""The store on PostgreSQL: the queries and writes of the SQLite store over other connections, but for a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import PurePath
from typing import TypeVar, cast

import apsw
import trio

from kiro_learn.adapters.postgres.connection import PostgresConnection
from kiro_learn.adapters.postgres.others import Commits, Turns
from kiro_learn.adapters.postgres.words import WordMirror
from kiro_learn.adapters.sqlite import search
from kiro_learn.adapters.sqlite.connections import Readers
from kiro_learn.adapters.sqlite.graph_reads import search_words
from kiro_learn.adapters.sqlite.observation_reads import search_syntax
from kiro_learn.adapters.sqlite.storage import SqlStorage
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.retention import FileSize
from kiro_learn.ports.storage.answers import Change, LexicalRanking, RecordRemoved, SearchParams
from kiro_learn.ports.storage.graph import GraphWords
from kiro_learn.ports.storage.records import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.kept_texts import forget_texts

T = TypeVar("T")

SECONDS_BETWEEN_LOOKS = 0.05

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""


class PostgresStorage(SqlStorage):
    """A ``StorageBackend`` in a schema of a PostgreSQL database. Made by ``open_postgres_storage``."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        mirror: WordMirror,
        *,
        commits: Commits,
        turns: Turns,
        user_home: PurePath | None,
    ) -> None:
        super().__init__(writer, readers, user_home=user_home)
        self._mirror = mirror
        self._commits = commits
        self._turns = turns

    async def follow_others(self) -> Sequence[Change]:
        changes = await self._commits.follow()
        self._note(changes)
        if any(isinstance(change, RecordRemoved) for change in changes):
            forget_texts()
        return changes

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        return self._turns.turn(name)

    async def close(self) -> None:
        self._commits.close()
        self._turns.close()
        await super().close()

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        return await self._read_words(partial(search.rank_by_words, params=params, indexes=self._words))

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        return await self._read_words(partial(search_syntax, search=search))

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        return await self._read_words(partial(search_words, search=search))

    async def get_file_size(self) -> FileSize:
        """Of the tables with their indexes; the server reuses what is free in them by itself."""
        return await self.readers.read(lambda connection: FileSize(connection.execute(SIZE).get, 0))

    async def _read_words(self, query: Callable[[apsw.Connection], T]) -> T:
        """One at a time: the mirror of words must not be ahead of what a query sees."""

        def in_turn(connection: apsw.Connection) -> T:
            while not self._mirror.lock.acquire(timeout=SECONDS_BETWEEN_LOOKS):
                trio.from_thread.check_cancelled()  # so that who is gone keeps no connection while a project is filled
            try:
                self._mirror.catch_up(cast("PostgresConnection", connection))
                return query(connection)
            finally:
                self._mirror.lock.release()

        return await self.readers.read(in_turn)
