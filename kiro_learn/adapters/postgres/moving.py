"""Moves the memory from the file to a server, or back: every row of every table, without a change.

The tables are those of today's schema, so that none is forgotten. The count of copied rows of a table is written in the
same commit as the rows: a move that was cut off goes on from there. In the end both sides are read and compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import apsw
import attrs

from kiro_learn.adapters.postgres.connection import PostgresConnection, Server
from kiro_learn.adapters.postgres.schema import MOVING, bring_to_today
from kiro_learn.adapters.postgres.storage import UsingConnection
from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.connections import make_private, open_writer, written
from kiro_learn.adapters.sqlite.damage import map_errors
from kiro_learn.adapters.sqlite.mending.reading import tables_of
from kiro_learn.adapters.sqlite.mending.replacing import SqliteReplacement
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import begin, is_newest
from kiro_learn.adapters.sqlite.word_reads import rebuild_whole
from kiro_learn.errors import StorageError
from kiro_learn.model.namespace import Namespace

# ruff: noqa: S608  # statements are put together of names of our own schema

ROWS_AT_ONCE = 500
BUSY_SECONDS = 5.0

Report = Callable[[str, int, int | None], None]
"""Called with a table's name, the count of rows done, and the count of all rows; None while rows are compared."""

_PLACES = f"CREATE TABLE {MOVING} (table_name TEXT PRIMARY KEY, row_count BIGINT NOT NULL)"
_PLACE = f"SELECT row_count FROM {MOVING} WHERE table_name = :name"
_PUT_PLACE = f"""
    INSERT INTO {MOVING} (table_name, row_count) VALUES (:name, :count)
    ON CONFLICT (table_name) DO UPDATE SET row_count = excluded.row_count
"""
_KEY = "SELECT name FROM pragma_table_info(:table) WHERE pk ORDER BY pk"


@attrs.frozen
class MovedTable:
    """A table, with the columns that are copied and those that order its rows."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def reading(self) -> str:
        names, key = ", ".join(self.columns), ", ".join(self.key)
        return f"SELECT {names} FROM {self.name} ORDER BY {key} LIMIT :limit OFFSET :done"

    @property
    def insertion(self) -> str:
        return statements.insertion(self.name, *self.columns)

    def values(self, row: Sequence[Any]) -> Mapping[str, Any]:
        return dict(zip(self.columns, row, strict=True))


def moved_tables() -> list[MovedTable]:
    """All tables of today's schema, each after those it refers to. Indexes of words are made anew, not moved."""
    with closing(apsw.Connection(":memory:")) as connection:
        begin(connection, MIGRATIONS, utc_now=lambda: datetime.min.replace(tzinfo=UTC))
        found = tables_of(connection, but=frozenset({"_migrations"}))
        return [_moved(connection, name, [each.name for each in table.columns]) for name, table in found.items()]


def _moved(connection: apsw.Connection, name: str, columns: Sequence[str]) -> MovedTable:
    if name == "events":  # in the order of arrival, which is that of their rowid
        return MovedTable(name, ("rowid", *columns), ("rowid",))
    return MovedTable(name, tuple(columns), tuple(key for (key,) in connection.execute(_KEY, {"table": name})))


class Side(Protocol):
    """A store that is moved from, or to."""

    name: str
    connection: Any

    @property
    def is_begun(self) -> bool:
        """Whether a move into it began and has not ended."""

    def numbers(self) -> dict[str, int]:
        """The last number that each table gave to a row, even if the row is gone."""

    def prepare(self, tables: Sequence[MovedTable]) -> None:
        """Turn off the triggers, which must not change copied rows. Called on the target, inside a transaction."""

    def complete(self, tables: Sequence[MovedTable], numbers: Mapping[str, int]) -> None:
        """Turn the triggers on again, and let numbers go on after the source's. Inside a transaction."""


def move(source: Side, target: Side, report: Report, *, anew: bool) -> dict[str, int]:
    """Copy all that ``source`` holds into ``target``; answers how many rows each table has.

    Nobody else may write to either. A target that holds the same already is left as it is.

    Raises:
      StorageError: the target holds another memory, or the copied rows differ from those of the source now.
    """
    tables = moved_tables()
    source.connection.execute("BEGIN")
    if target.is_begun and anew:
        _empty(target, tables)
    if not target.is_begun:
        if any(_count(target, table) for table in tables if table.name != "embedding_models"):
            return _insist_on_same(source, target, tables, report, hint=OTHER_HINT)
        with _written(target):
            target.connection.execute(_PLACES)
            target.prepare(tables)
            for table in reversed(tables):
                target.connection.execute(f"DELETE FROM {table.name}")
    for table in tables:
        _copy(source, target, table, report)
    counts = _insist_on_same(source, target, tables, report, hint=CHANGED_HINT)
    with _written(target):
        target.complete(tables, source.numbers())
        target.connection.execute(f"DROP TABLE {MOVING}")
    return counts


CHANGED_HINT = "The source changed since the move began: the same command with --anew copies all of it."
OTHER_HINT = "It holds a memory already. Move into a database without one."


def _empty(target: Side, tables: Sequence[MovedTable]) -> None:
    with _written(target):
        for table in reversed(tables):
            target.connection.execute(f"DELETE FROM {table.name}")
        target.connection.execute(f"DELETE FROM {MOVING}")


def _copy(source: Side, target: Side, table: MovedTable, report: Report) -> None:
    total = _count(source, table)
    done = target.connection.execute(_PLACE, {"name": table.name}).get or 0
    rows = iter(source.connection.execute(table.reading, {"limit": -1, "done": done}))
    while batch := [table.values(row) for row in islice(rows, ROWS_AT_ONCE)]:
        done += len(batch)
        try:
            with _written(target):
                target.connection.executemany(table.insertion, batch)
                target.connection.execute(_PUT_PLACE, {"name": table.name, "count": done})
        except apsw.ConstraintError as error:
            raise StorageError(
                f"{target.name} does not take a row of {table.name} ({error})", hint=CHANGED_HINT
            ) from error
        report(table.name, done, total)


def _count(side: Side, table: MovedTable) -> int:
    return int(side.connection.execute(f"SELECT count(*) FROM {table.name}").get)


def _insist_on_same(
    source: Side, target: Side, tables: Sequence[MovedTable], report: Report, *, hint: str
) -> dict[str, int]:
    """The count of rows of each table. Raises StorageError: a table differs."""
    counts: dict[str, int] = {}
    for table in tables:
        here, there = (_fingerprint(side, table, report) for side in (source, target))
        if here != there:
            problem = f"{target.name} differs from {source.name} in {table.name} ({there[0]} rows, not {here[0]})"
            raise StorageError(problem if here[0] != there[0] else problem.partition(" (")[0], hint=hint)
        counts[table.name] = here[0]
    return counts


def _fingerprint(side: Side, table: MovedTable, report: Report) -> tuple[int, int]:
    """The number of rows, and the sum of their hashes, which does not depend on their order."""
    count = total = 0
    if not side.connection.in_transaction:
        side.connection.execute("BEGIN")
    for row in side.connection.execute(table.reading, {"limit": -1, "done": 0}):
        count += 1
        total += int.from_bytes(blake2b(repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=16).digest())
        if not count % ROWS_AT_ONCE:
            report(table.name, count, None)
    return count, total


@contextmanager
def _written(side: Side) -> Iterator[None]:
    """Commit all that the block writes, or nothing."""
    if side.connection.in_transaction:
        side.connection.execute("ROLLBACK")  # it only read
    with written(side.connection):
        yield


class SqliteSide:
    """The SQLite file."""

    _HAS_PLACES = "SELECT count(*) FROM sqlite_schema WHERE name = :name"

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.connection = open_writer(path, busy_seconds=BUSY_SECONDS)

    @property
    def is_begun(self) -> bool:
        return bool(self.connection.execute(self._HAS_PLACES, {"name": MOVING}).get)

    def numbers(self) -> dict[str, int]:
        return {str(name): int(last) for name, last in self.connection.execute("SELECT name, seq FROM sqlite_sequence")}

    def prepare(self, _tables: Sequence[MovedTable]) -> None:
        """Drop the trigger that adds rows to ``model_embeddings``: those rows are copied. ``complete`` restores it."""
        made = self.connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'await_embedding'").get
        self.connection.execute("DROP TRIGGER await_embedding")
        self.connection.execute(f"CREATE TABLE {MOVING}_trigger (made TEXT)")
        self.connection.execute(f"INSERT INTO {MOVING}_trigger VALUES (:made)", {"made": made})

    def complete(self, tables: Sequence[MovedTable], numbers: Mapping[str, int]) -> None:
        self.connection.execute(str(self.connection.execute(f"SELECT made FROM {MOVING}_trigger").get))
        self.connection.execute(f"DROP TABLE {MOVING}_trigger")
        projects: list[Any] = self.connection.execute(statements.NAMESPACE_NUMBERS).fetchall()
        for namespace, *_ in projects:
            rebuild_whole(self.connection, Namespace(namespace))
        for table in tables:
            last = numbers.get(table.name, 0)
            self.connection.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = :name",
                {"last": last, "name": table.name},
            )


class PostgresSide:
    """The database on the PostgreSQL server."""

    _HAS_PLACES = "SELECT to_regclass(:name) IS NOT NULL"
    _NUMBERED = """
        SELECT table_name, column_name FROM information_schema.columns
         WHERE table_schema = current_schema() AND is_identity = 'YES'
           AND table_name NOT IN ('commits', 'words_changed')
    """
    _LAST = """
        SELECT coalesce(max(last_value), 0) FROM pg_sequences
         WHERE schemaname = current_schema() AND sequencename = :name
    """

    def __init__(self, url: str) -> None:
        """Raises as ``open_postgres_storage``."""
        self.connection: PostgresConnection = UsingConnection(Server(url, lock_seconds=BUSY_SECONDS), alone=True)
        self.name = self.connection.server.name
        bring_to_today(self.connection, is_moved_into=True)

    @property
    def is_begun(self) -> bool:
        return bool(self.connection.execute(self._HAS_PLACES, {"name": MOVING}).get)

    def numbers(self) -> dict[str, int]:
        return {
            table: int(self.connection.execute(self._LAST, {"name": f"{table}_{column}_seq"}).get)
            for table, column in self.connection.execute(self._NUMBERED).fetchall()
        }

    def prepare(self, tables: Sequence[MovedTable]) -> None:
        for table in tables:
            self.connection.execute(f"ALTER TABLE {table.name} DISABLE TRIGGER USER")

    def complete(self, tables: Sequence[MovedTable], numbers: Mapping[str, int]) -> None:
        for table in tables:
            self.connection.execute(f"ALTER TABLE {table.name} ENABLE TRIGGER USER")
        for table_name, column in self.connection.execute(self._NUMBERED).fetchall():
            last = max(numbers.get(table_name, 0), self._largest(table_name, column))
            if last:
                sequence = f"pg_get_serial_sequence('{table_name}', '{column}')"
                self.connection.execute(f"SELECT setval({sequence}, :last)", {"last": last}).fetchall()

    def _largest(self, table: str, column: str) -> int:
        return int(self.connection.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").get)


def move_to_server(database: Path, url: str, report: Report, *, anew: bool) -> dict[str, int]:
    """Copy the file ``database`` to the server at ``url``; answers how many rows each table has.

    The file stays as it is. The caller sees to it that no daemon uses it.

    Raises:
      StorageError: see ``move``; the file is missing, or another version wrote it.
    """
    if not database.is_file():
        raise StorageError(f"there is no memory in {database}", hint="A daemon on an empty database begins one.")
    target = PostgresSide(url)
    try:
        with map_errors(database):
            source = SqliteSide(database, str(database))
            with closing(source.connection):
                if not is_newest(source.connection, MIGRATIONS):
                    hint = "kiro-learn start      upgrades it; then stop, and move"
                    raise StorageError(f"{database} is of another version of kiro-learn", hint=hint)
                return move(source, target, report, anew=anew)
    finally:
        target.connection.close()


def move_to_file(
    url: str,
    database: Path,
    backups: Path,
    report: Report,
    *,
    anew: bool,
    utc_now: Callable[[], datetime],
) -> tuple[dict[str, int], Path | None]:
    """Copy the database at ``url`` into the file ``database``.

    Answers how many rows each table has, and where the file is kept that was there before.

    The caller sees to it that no daemon uses either.

    Raises:
      StorageError: see ``move``.
    """
    half_made = database.with_name(f".{database.name}.{MOVING}")
    source = PostgresSide(url)
    try:
        if source.is_begun:
            raise StorageError(f"a move into {source.name} has not ended", hint="kiro-learn storage move URL")
        if anew:
            half_made.unlink(missing_ok=True)
        with map_errors(half_made):
            make_private(half_made)
            target = SqliteSide(half_made, str(half_made))
            with closing(target.connection):
                if not is_newest(target.connection, MIGRATIONS):
                    begin(target.connection, MIGRATIONS, utc_now=utc_now)
                counts = move(source, target, report, anew=False)
        with half_made.open("rb") as file:
            os.fsync(file.fileno())
        return counts, SqliteReplacement(database, backups, nullcontext, utc_now).put_made(half_made)
    finally:
        source.connection.close()
