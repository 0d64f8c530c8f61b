"""The pool of connections that read; one serves one query at a time, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import apsw
import trio

from kiro_learn.adapters.postgres.connection import PostgresConnection, Server
from kiro_learn.adapters.postgres.words import WordMirror
from kiro_learn.adapters.sqlite.connections import Loan, Readers

T = TypeVar("T")

ONE_STATE = "ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresReaders(Readers):
    """As ``Readers``. A caller who is cancelled goes on at once, and the server is told to stop."""

    def __init__(self, server: Server, words: WordMirror, count: int) -> None:
        self._server = server
        self._words = words
        connections = [PostgresConnection(server, words) for _ in range(count)]
        super().__init__(Path(server.name), cast("list[apsw.Connection]", connections))

    async def open_another(self) -> tuple[Path, apsw.Connection]:
        connection = PostgresConnection(self._server, self._words)
        await trio.to_thread.run_sync(connection.begin, ONE_STATE)
        await trio.to_thread.run_sync(connection.run, "SELECT 1 FROM namespaces LIMIT 1", None)
        return self._path, cast("apsw.Connection", connection)

    def _answer(self, loan: Loan, query: Callable[[apsw.Connection], T]) -> T:
        connection = cast("PostgresConnection", loan.connection)
        try:
            ended = connection.begin(ONE_STATE)
            loan.stop = partial(_cancel_soon, connection, ended)
            return query(loan.connection)
        finally:
            connection.end()


def _cancel_soon(connection: PostgresConnection, ended: threading.Event) -> None:
    trio.lowlevel.start_thread_soon(partial(connection.cancel, ended), lambda _: None)
