"""The one connection that writes, and the lock that makes it the only one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import apsw
import psycopg

from kiro_learn.adapters.postgres.connection import PostgresConnection, Server
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.errors import StorageBusy, StorageUnavailable

_LOCK = 7_161_553_020_912
"""Of the daemon that uses the database."""


class OwnConnection(PostgresConnection):
    """Holds the lock of the database while it is connected; a daemon without it writes nothing.

    What a daemon keeps in memory is right as long as nobody else writes. So one that lost its connection goes on only
    if no other has opened the database meanwhile.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(server, None)
        self.generation: int | None = None
        """The number of this opening, once it is known."""

    def _open(self) -> psycopg.Connection[Any]:
        if self.raw is None:
            with ExitStack() as opened:
                raw = opened.enter_context(closing(self.server.connect()))
                self._insist(raw)
                opened.pop_all()
            self.raw = raw
        return self.raw

    def _insist(self, raw: psycopg.Connection[Any]) -> None:
        name = self.server.name
        try:
            raw.execute(f"SELECT pg_advisory_lock({_LOCK})")  # a daemon that just stopped may hold it a moment longer
        except psycopg.errors.LockNotAvailable as error:
            hint = "One daemon at a time uses a database: stop the other one."
            raise StorageBusy(f"another daemon uses {name}", hint=hint) from error
        if self.generation is not None:
            found = raw.execute("SELECT generation FROM store").fetchone()
            if found != (self.generation,):
                hint = "kiro-learn restart      reads what the other one wrote"
                raise StorageUnavailable(name, problem="was used by another daemon meanwhile", hint=hint)


class PostgresWriter(Writer):
    """As ``Writer``."""

    def __init__(self, connection: OwnConnection, *, utc_now: Callable[[], datetime]) -> None:
        super().__init__(Path(connection.server.name), cast("apsw.Connection", connection), utc_now=utc_now)
        self._own = connection

    def _begin(self) -> None:
        self._own.begin()

    def _erasing(self, numbers: set[int]) -> Iterator[None]:  # noqa: ARG002  # all tables are vacuumed
        """Old versions of rows lie in the tables until they are vacuumed."""
        self._rewrite()
        yield from ()

    def _rewrite(self) -> None:
        tables = self._own.run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()", None)
        self._own.run(f"VACUUM {', '.join(name for (name,) in tables)}", None)
