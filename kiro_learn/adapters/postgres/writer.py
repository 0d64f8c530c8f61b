"""The one connection of a daemon that writes. The daemons on a database take turns, transaction by transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import apsw
import psycopg

from kiro_learn.adapters.postgres.connection import IN_USE, SCHEMA, WRITES, PostgresConnection, Server
from kiro_learn.adapters.postgres.dialect import translated
from kiro_learn.adapters.postgres.others import PUT_COMMIT, encoded
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.errors import StorageBusy
from kiro_learn.ports.storage.answers import Committed, Outcome

_IN_USE = f"{IN_USE}, hashtext('{SCHEMA}')"
"""The lock of who uses the database: daemons share it, and who moves a memory has it alone."""
_WRITES = f"{WRITES}, hashtext('{SCHEMA}')"
"""The lock of the transaction that writes. What is written depends on what is read before, as on SQLite, where there is
one writer too; and places in ``commits`` are in the order of the commits."""

LONGEST_PAUSE = "10s"
"""Between two statements of a transaction that writes: a computer that falls asleep must not stop all others."""


class UsingConnection(PostgresConnection):
    """Holds the lock of the database while it is connected, so that no memory is moved meanwhile."""

    def __init__(self, server: Server, *, alone: bool = False) -> None:
        """``alone``: no daemon may use the database beside this connection."""
        super().__init__(server, None)
        self._how = "pg_advisory_lock" if alone else "pg_advisory_lock_shared"

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
            raw.execute(f"SELECT {self._how}({_IN_USE})")  # a daemon that just stopped may hold it a moment longer
        except psycopg.errors.LockNotAvailable as error:
            if self._how == "pg_advisory_lock":
                raise StorageBusy(f"a daemon uses {name}", hint="Stop every daemon that uses it.") from error
            hint = "A memory is being moved: wait until kiro-learn storage move has ended."
            raise StorageBusy(f"{name} is not to be used now", hint=hint) from error
        raw.execute(f"SET idle_in_transaction_session_timeout = '{LONGEST_PAUSE}'")


class PostgresWriter(Writer):
    """As ``Writer``."""

    def __init__(self, connection: UsingConnection, *, daemon: str, utc_now: Callable[[], datetime]) -> None:
        super().__init__(Path(connection.server.name), cast("apsw.Connection", connection), utc_now=utc_now)
        self._own = connection
        self._daemon = daemon

    def _begin(self) -> None:
        self._own.begin(f"; SELECT pg_advisory_xact_lock({_WRITES})")

    def _commit(self, outcomes: Sequence[Outcome]) -> None:
        changes = [change for each in outcomes if isinstance(each, Committed) for change in each.changes]
        if changes:
            values = {"daemon": self._daemon, "changes": encoded(changes)}
            self._own.run(f"{translated(PUT_COMMIT)}; COMMIT", values)
        else:
            self._own.run("COMMIT", None)

    def _erasing(self, numbers: set[int]) -> Iterator[None]:  # noqa: ARG002  # all tables are vacuumed
        """Old versions of rows lie in the tables until they are vacuumed."""
        self._rewrite()
        yield from ()

    def _rewrite(self) -> None:
        tables = self._own.run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()", None)
        self._own.run(f"VACUUM {', '.join(name for (name,) in tables)}", None)
