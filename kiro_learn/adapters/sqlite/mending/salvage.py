"""Makes a new database of the rows that a damaged one still holds."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import attrs

from kiro_learn.adapters.sqlite import history, index_statements, rows, statements
from kiro_learn.adapters.sqlite.connections import make_private
from kiro_learn.adapters.sqlite.mending.reading import Remains, Table, tables_of
from kiro_learn.adapters.sqlite.mending.trees import Pages
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import begin
from kiro_learn.adapters.sqlite.word_reads import CHUNK_COUNT, rebuild_whole
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.backup import Salvaged, SavedRows
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import MemoryRecord

LEFT_OUT = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
"""The errors of a row that SQLite refuses: its bytes are damaged."""

NUMBERED_TABLES = ("memory_records", "replaced_records", "replacements", "buffer", "forgotten")
LAST_NUMBERS = """
    UPDATE namespaces
       SET last_record = max(last_record,
                             (SELECT coalesce(max(number & 4294967295), 0) FROM memory_records
                               WHERE namespace_number = namespaces.number),
                             (SELECT coalesce(max(number & 4294967295), 0) FROM replaced_records
                               WHERE namespace_number = namespaces.number))
"""
NAMESPACE_OF_SOURCES = """
    SELECT e.namespace
      FROM memory_records AS r JOIN json_each(r.source_event_ids_json) AS source
      JOIN events AS e ON e.event_id = source.value
     WHERE r.namespace_number = :number AND json_valid(r.source_event_ids_json)
     LIMIT 1
"""
VERSION_OF_COPY = "SELECT max(version) FROM copy._migrations"
NAMED = {"events": "event_id", "memory_records": "record_id"}
"""The tables whose lost rows are taken from a copy, with the key by which an index names them."""
UNREADABLE_EVENTS = "DELETE FROM events WHERE NOT json_valid(body_json) OR NOT json_valid(source_json)"
EVIDENCE_OF_NOTHING = """
    DELETE FROM graph_evidence
     WHERE item_id NOT IN (SELECT id FROM graph_entities UNION ALL SELECT id FROM graph_relationships
                           UNION ALL SELECT id FROM graph_facts UNION ALL SELECT id FROM graph_procedures
                           UNION ALL SELECT id FROM graph_preferences)
"""
REFERENCES = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(:table)'


def salvage(damaged: Path, target: Path, *, copy: Path | None, utc_now: Callable[[], datetime]) -> Salvaged:
    """Write all rows that can be read of ``damaged`` and its log into the new file ``target``.

    Events and memories of which only an index has the id are taken from ``copy``, which must be sound. Indexes of words
    are made anew. Vectors are left out: the daemon makes them again. Rows that refer to a lost row are left out too. A
    lost project's name is found elsewhere, or made up.

    Raises:
      StorageError: the database is of an earlier schema.
      StorageCorrupt: no row of it can be read.
    """
    make_private(target)
    with closing(apsw.Connection(str(target))) as connection:
        # Nobody else sees the file before it is whole, and after a crash it is begun again.
        connection.execute("PRAGMA journal_mode = OFF")
        begin(connection, MIGRATIONS, utc_now=utc_now)
        if copy is not None:
            connection.execute("ATTACH :path AS copy", {"path": str(copy)})
            copy = copy if connection.execute(VERSION_OF_COPY).get == MIGRATIONS[-1].version else None
        found = _Salvage(connection, damaged).run(has_copy=copy is not None)
        connection.execute("PRAGMA journal_mode = DELETE")
    with target.open("rb") as file:
        os.fsync(file.fileno())
    return found


def holds_rows(damaged: Path) -> bool:
    """Whether an event or a memory of ``damaged`` can be read."""
    with closing(apsw.Connection(":memory:")) as connection:
        begin(connection, MIGRATIONS, utc_now=lambda: datetime.min.replace(tzinfo=UTC))
        wanted = {name: table for name, table in tables_of(connection).items() if name in {"events", "memory_records"}}
    return next(Remains(Pages(damaged), wanted).rows(), None) is not None


class _Salvage:
    def __init__(self, connection: apsw.Connection, damaged: Path) -> None:
        self._connection = connection
        self._tables = tables_of(connection)
        self._remains = Remains(Pages(damaged), self._tables)
        self._doubtful: list[int] = []
        """The numbers of memories that were found outside of the trees."""
        for root in self._remains.roots:
            if root.name == "memory_records" and "namespace_number" not in root.sql:
                raise StorageError(f"{damaged} is damaged, and of an earlier kiro-learn, which can only be restored")

    def run(self, *, has_copy: bool) -> Salvaged:
        connection = self._connection
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        model = connection.execute("SELECT * FROM embedding_models").fetchall()
        connection.execute("DELETE FROM embedding_models")
        self._copy_rows()
        from_copy = sum(self._fill(self._tables[name], key) for name, key in NAMED.items()) if has_copy else 0
        self._complete_models(model)
        self._complete_namespaces()
        self._drop_unreadable()
        self._drop_references_to_nothing()
        projects: list[Any] = connection.execute(statements.NAMESPACE_NUMBERS).fetchall()
        for namespace, *_ in projects:
            rebuild_whole(connection, Namespace(namespace))
        self._keep_sequences()
        saved = attrs.evolve(self._saved(), from_copy_count=from_copy)
        connection.execute("COMMIT")
        if not saved.memories.count + saved.events.count:
            raise StorageCorrupt("nothing could be read of it", hint="kiro-learn restore")
        return saved

    def _copy_rows(self) -> None:
        for found in self._remains.rows():
            try:
                self._connection.execute(found.table.insertion, found.table.row(found.cell))
            except LEFT_OUT:
                continue
            if not found.is_certain and found.table.name == "memory_records" and self._connection.changes():
                self._doubtful.append(found.cell.rowid)

    def _fill(self, table: Table, key: str) -> int:
        """Take lost rows, which only an index names, from the copy; answers their count."""
        names = ", ".join(column.name for column in table.columns)
        same = " AND rowid = :number" if any(column.is_rowid for column in table.columns) else ""
        statement = (
            f"INSERT OR IGNORE INTO main.{table.name} (rowid, {names})"  # noqa: S608  # names of our own schema
            f" SELECT :number, {names} FROM copy.{table.name} WHERE {key} = :key{same}"
        )
        there, before = self._numbers_in(table), self._connection.total_changes()
        for root, cell in self._remains.entries(table.name):
            match cell.values:
                case (str(name), int(number)) if root.name.startswith("sqlite_autoindex") and number not in there:
                    self._connection.execute(statement, {"number": number, "key": name})
        return self._connection.total_changes() - before

    def _numbers_in(self, table: Table) -> set[int]:
        return {number for (number,) in self._connection.execute(f"SELECT rowid FROM {table.name}")}  # noqa: S608  # a name of our own schema

    def _complete_models(self, bundled: list[tuple[apsw.SQLiteValue, ...]]) -> None:
        places = ", ".join("?" for _ in bundled[0])
        self._connection.execute(f"INSERT OR IGNORE INTO embedding_models VALUES ({places})", bundled[0])  # noqa: S608  # places alone
        current = self._connection.execute("SELECT count(*) FROM embedding_models WHERE is_current").get
        if current != 1:
            self._connection.execute("UPDATE embedding_models SET is_current = (number = 1)")

    def _complete_namespaces(self) -> None:
        """Give every project with a row left a name: without one, its rows could not be found."""
        names = self._indexed_namespaces()
        for table in NUMBERED_TABLES:
            missing: list[Any] = self._connection.execute(
                f"SELECT DISTINCT namespace_number FROM {table} WHERE namespace_number NOT IN (SELECT number FROM namespaces)"  # noqa: S608, E501  # names of our own schema
            ).fetchall()
            for (number,) in missing:
                self._put_namespace(number, names)
        for number, name in names.items():
            self._connection.execute(
                "INSERT OR IGNORE INTO namespaces (number, namespace) VALUES (?, ?)", (number, name)
            )
        self._connection.execute(LAST_NUMBERS)

    def _put_namespace(self, number: int, names: Mapping[int, str]) -> None:
        of_events = self._connection.execute(NAMESPACE_OF_SOURCES, {"number": number}).get
        actor = self._connection.execute("SELECT actor_id FROM events LIMIT 1").get or "salvaged"
        for name in (names.get(number), of_events, namespace_of(str(actor), f"salvaged-{number}")):
            if name:
                statement = "INSERT OR IGNORE INTO namespaces (number, namespace) VALUES (?, ?)"
                self._connection.execute(statement, (number, name))
                if self._connection.changes():
                    return

    def _indexed_namespaces(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for _, cell in self._remains.entries("namespaces"):
            match cell.values:
                case (str(name), int(number)):
                    found[number] = name
        return found

    def _drop_unreadable(self) -> None:
        """Delete rows that no reader would show, and doubtful memories that were forgotten."""
        connection = self._connection
        connection.execute(UNREADABLE_EVENTS)
        doubtful = set(self._doubtful)
        for number, record in list(_records(connection)):
            if record is None or (number in doubtful and history.is_forgotten(connection, record)):
                connection.execute("DELETE FROM memory_records WHERE number = ?", (number,))

    def _drop_references_to_nothing(self) -> None:
        before = -1
        while before != self._connection.total_changes():
            before = self._connection.total_changes()
            for table in self._tables:
                for column, other, key in self._connection.execute(REFERENCES, {"table": table}).fetchall():
                    self._connection.execute(
                        f"DELETE FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {other})"  # noqa: S608, E501  # names of our own schema
                    )
        self._connection.execute(EVIDENCE_OF_NOTHING)

    def _keep_sequences(self) -> None:
        """Let numbers go on after the last one, so that none is given twice."""
        for name, last in self._remains.sequences().items():
            self._connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name))
            if not self._connection.changes() and name in self._tables:
                self._connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))

    def _saved(self) -> Salvaged:
        counts: defaultdict[str, SavedRows] = defaultdict(SavedRows)
        for table in self._tables.values():
            name = table.name if table.name in {"events", "memory_records"} else "others"
            counts[name] += self._saved_of(table)
        return Salvaged(
            memories=counts["memory_records"],
            events=counts["events"],
            others=counts["others"],
            unreadable_page_count=len(self._remains.unreadable),
        )

    def _saved_of(self, table: Table) -> SavedRows:
        """The counts of a table's saved and lost rows. A lost row is known only by an index that names it."""
        if table.is_by_key:
            return SavedRows(int(self._connection.execute(f"SELECT count(*) FROM {table.name}").get))  # noqa: S608  # a name of our own schema
        there = self._numbers_in(table)
        named = {cell.values[-1] for _, cell in self._remains.entries(table.name) if cell.values}
        return SavedRows(len(there), len({number for number in named if isinstance(number, int)} - there))


def _records(connection: apsw.Connection) -> Iterator[tuple[int, MemoryRecord | None]]:
    """The number of each memory, and the memory; None if it cannot be read."""
    after, last = 0, (1 << 63) - 1
    while True:
        values = {"after": after, "last": last, "limit": CHUNK_COUNT}
        found: list[Any] = connection.execute(index_statements.FIRST_RECORDS_BETWEEN, values).fetchall()
        for number, *row in found:
            try:
                yield number, rows.to_record(tuple(row))
            except StorageCorrupt:
                yield number, None
            after = number
        if len(found) < CHUNK_COUNT:
            return
