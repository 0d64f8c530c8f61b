"""Checks the database's file for damage, even while a daemon runs, and rebuilds indexes of words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import apsw
import attrs

from kiro_learn.adapters.sqlite import index_statements, statements
from kiro_learn.adapters.sqlite.connections import open_reader, open_writer, settle, written
from kiro_learn.adapters.sqlite.damage import BUSY, insist_on_tables, map_errors
from kiro_learn.adapters.sqlite.mending.salvage import holds_rows
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import is_newest
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.word_reads import IndexDamaged, WordReads, rebuild_whole
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.home import DatabaseFacts

BUSY_SECONDS = 1.0
STEPS_BETWEEN_LOOKS = 100_000
"""Steps of SQLite's virtual machine between two reads of the clock: some milliseconds."""


@attrs.frozen
class SqliteInspection:
    """The checks of one file. ``lock`` owns its home for the length of a block, or raises AlreadyRunning."""

    path: Path
    lock: Callable[[], AbstractContextManager[None]]

    def check(self, patience_seconds: float) -> DatabaseFacts:
        if not os.path.lexists(self.path):
            return DatabaseFacts()
        if self.path.is_symlink():
            return self._link()
        if not self.path.is_file():
            said = "is a folder" if self.path.is_dir() else "is no file"
            return DatabaseFacts(problem=f"{self.path} {said}")
        deadline = time.monotonic() + patience_seconds
        try:
            with map_errors(self.path), closing(open_reader(self.path, busy_seconds=BUSY_SECONDS)) as connection:
                connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_LOOKS)
                if is_newest(connection, MIGRATIONS):
                    insist_on_tables(self.path, connection)
                found = _checked(connection)
        except StorageCorrupt as error:
            found = DatabaseFacts(problem=str(error))
        except StorageError as error:
            return DatabaseFacts(obstacle=str(error))
        return attrs.evolve(found, holds_rows=bool(found.problem) and holds_rows(self.path))

    def _link(self) -> DatabaseFacts:
        """The facts about a symbolic link. The daemon follows none, since it may lead to another user's file."""
        if not self.path.is_file():
            return DatabaseFacts(obstacle=f"{self.path} is a symbolic link that leads nowhere")
        led_to = str(self.path.resolve())
        return DatabaseFacts(problem=f"{self.path} is a symbolic link", link_to=led_to)

    def rebuild_words(self, namespaces: Sequence[str]) -> None:
        with (
            self.lock(),
            map_errors(self.path),
            closing(open_writer(self.path, busy_seconds=BUSY_SECONDS)) as writer,
        ):
            settle(writer)
            with written(writer):
                for namespace in namespaces:
                    rebuild_whole(writer, Namespace(namespace))


def _checked(connection: apsw.Connection) -> DatabaseFacts:
    """Check table by table: a damaged index of words may make a check of the whole file fail."""
    damaged: list[str] = []
    try:
        # All checks read one snapshot: a daemon may write meanwhile.
        connection.execute("BEGIN")
        for (table,) in connection.execute(statements.ORDINARY_TABLES).fetchall():
            found = connection.execute(statements.QUICK_CHECK, {"table": table}).get
            if found != "ok":
                return DatabaseFacts(problem=f"SQLite finds damage: {_first_line(str(found))}")
        for namespace, number, last_number in _namespaces(connection):
            if last_number and _is_damaged(connection, number, last_number):
                damaged.append(namespace)
    except apsw.InterruptError:
        return DatabaseFacts(damaged_namespaces=tuple(damaged), is_finished=False)
    except BUSY:
        return DatabaseFacts(is_finished=False)
    return DatabaseFacts(damaged_namespaces=tuple(damaged))


def _first_line(said: str) -> str:
    """The first line of a check's output that names damage."""
    return next((line for line in said.splitlines() if line and not line.startswith("***")), said)


def _namespaces(connection: apsw.Connection) -> list[tuple[str, int, int]]:
    """Each namespace, its number and its last record's number; none in a database that is not upgraded yet."""
    try:
        rows: list[Any] = connection.execute(statements.NAMESPACE_NUMBERS).fetchall()
    except apsw.SQLError:
        return []
    return rows


def _is_damaged(connection: apsw.Connection, number: int, last_number: int) -> bool:
    reads = WordReads(connection, number)
    try:
        connection.execute(for_namespace(index_statements.HAS_WHOLE_INDEX, number))
        reads.lengths(reads.totals(last_number))
        found = connection.execute(statements.QUICK_CHECK, {"table": f"records_fts_{number:d}"}).get
    except (IndexDamaged, apsw.SQLError, apsw.CorruptError):
        return True
    return bool(found != "ok")
