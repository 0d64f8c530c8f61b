"""Reads all that is kept, from one state of the database on a connection of its own; and has the SQL to restore it.

Rules of the SQL: values are bound. Each read walks one table along its rowid or primary key, in the order in which rows
were added; the reader stops it when it has enough for now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import apsw
import trio

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, damage_named, decodable, map_errors
from kiro_learn.adapters.sqlite.graph_rows import to_evidence, to_item
from kiro_learn.adapters.sqlite.graph_statements import ALL_ITEMS
from kiro_learn.adapters.sqlite.graph_statements import EVIDENCE_COLUMNS as _EVIDENCE
from kiro_learn.adapters.sqlite.history import replacing_in
from kiro_learn.adapters.sqlite.record_statements import RECORD_COLUMNS, RECORD_FIELDS
from kiro_learn.adapters.sqlite.rows import decoded, to_cluster, to_event, to_record, to_told
from kiro_learn.adapters.sqlite.statements import CLUSTER_FIELDS, EVENT_COLUMNS, EVENT_FIELDS, insertion
from kiro_learn.model.correction import ReplacementReason
from kiro_learn.model.ids import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.stored import (
    KINDS,
    Stored,
    StoredEvent,
    StoredForgotten,
    StoredMemory,
    StoredMerge,
    StoredPause,
    StoredProject,
    StoredReplaced,
)

# ruff: noqa: S608  # all texts are put together of our own names


ALL_NAMESPACES = """
    SELECT CAST(namespace AS BLOB), CAST(name AS BLOB), CAST(folder AS BLOB) FROM namespaces ORDER BY number
"""

ALL_MERGED = """
    SELECT CAST(s.namespace AS BLOB), CAST(t.namespace AS BLOB)
      FROM namespaces AS s CROSS JOIN namespaces AS t ON t.number = s.merged_into
     ORDER BY s.number
"""

ALL_PAUSES = """
    SELECT CAST(namespace AS BLOB), CAST(session_id AS BLOB), CAST(since AS BLOB)
      FROM pauses ORDER BY namespace, session_id
"""

ALL_EVENTS = f"""
    SELECT {EVENT_COLUMNS}, CAST(e.transaction_time AS BLOB), CAST(e.expired_at AS BLOB), e.expired_bytes
      FROM events AS e
     ORDER BY e.rowid
"""

ALL_WAITING = "SELECT is_parked, CAST(coalesce(stands_for_json, json_array(event_id)) AS BLOB) FROM buffer"

ALL_REPLACED = f"""
    SELECT {RECORD_COLUMNS}, CAST(r.distilled_at AS BLOB), p.number, CAST(p.replacement_id AS BLOB),
           CAST(p.reason AS BLOB), CAST(p.replaced_at AS BLOB)
      FROM replacements AS p
      CROSS JOIN replaced_records AS r ON r.replacement_number = p.number
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY p.number, r.record_id
"""

# The sessions by the primary key of events.
ALL_RECORDS = f"""
    SELECT {RECORD_COLUMNS}, CAST(r.distilled_at AS BLOB), CAST(r.file_digests_json AS BLOB), (
               SELECT CAST(json_group_array(e.session_id) AS BLOB)
                 FROM json_each(iif(json_valid(r.source_event_ids_json), r.source_event_ids_json, '[]')) AS s
                CROSS JOIN events AS e ON e.event_id = s.value)
      FROM memory_records AS r CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY r.number
"""

ALL_EVIDENCE = f"SELECT {', '.join(_EVIDENCE)} FROM graph_evidence ORDER BY item_id, event_id"

ALL_FORGOTTEN = """
    SELECT n.namespace, f.event_id, lower(hex(f.digest))
      FROM forgotten AS f CROSS JOIN namespaces AS n ON n.number = f.namespace_number
     ORDER BY f.namespace_number, f.event_id, f.digest
"""

# One row. A name that another project has here is not taken from it.
RESTORE_PROJECT = """
    UPDATE namespaces
       SET name = coalesce(name, iif(EXISTS (SELECT 1 FROM namespaces WHERE name = :name), NULL, :name)),
           folder = coalesce(folder, :folder)
     WHERE number = :number
"""

# By the unique index of namespace; each of the others by an index of the namespace.
IS_MERGED = "SELECT merged_into IS NOT NULL FROM namespaces WHERE number = :source"
HOLDS_SOMETHING = """
    SELECT EXISTS (SELECT 1 FROM events WHERE namespace = :source_name)
        OR EXISTS (SELECT 1 FROM memory_records WHERE namespace_number = :source)
"""
RESTORE_PAUSE = f"""
    {insertion("pauses", "namespace", "session_id", "since")}
    ON CONFLICT (namespace, session_id) DO NOTHING
"""

RESTORE_EVENT = f"""
    {insertion("events", *EVENT_FIELDS, "transaction_time", "expired_at", "expired_bytes")}
    ON CONFLICT (event_id) DO NOTHING
"""

RESTORE_WAITING = insertion("buffer", "namespace_number", "is_parked", "event_id", "size_bytes")

# By the unique index of replacement_id.
REPLACEMENT_NUMBER = """
    SELECT p.number, n.namespace
      FROM replacements AS p JOIN namespaces AS n ON n.number = p.namespace_number
     WHERE p.replacement_id = :replacement_id
"""

_OF_REPLACED = ("number", "replacement_number", "namespace_number", "content_hash", "distilled_at")
RESTORE_REPLACED = insertion("replaced_records", *_OF_REPLACED, *RECORD_FIELDS)

# By the unique index of record_id.
RESTORE_NOTES = """
    UPDATE memory_records SET distilled_at = :distilled_at, file_digests_json = :digests WHERE record_id = :record_id
"""

RESTORE_EVIDENCE = f"{insertion('graph_evidence', *_EVIDENCE)} ON CONFLICT (item_id, event_id) DO NOTHING"

# Each of the three by the unique index.
RESTORE_PARKED = f"{insertion('parked_clusters', *CLUSTER_FIELDS)} ON CONFLICT (cluster_id) DO NOTHING"

RESTORE_TOLD = f"""
    {insertion("session_told", "namespace_number", "session_id", "item_id", "prompt_number")}
    ON CONFLICT (namespace_number, session_id, item_id) DO NOTHING
"""

RESTORE_FORGOTTEN = f"""
    {insertion("forgotten", "namespace_number", "event_id", "digest")}
    ON CONFLICT DO NOTHING
"""


MOST_PIECES = 200
MOST_BYTES = 1_000_000
"""The most bytes of a page, unless one piece is larger."""

RECORD_WIDTH = 1 + len(RECORD_FIELDS)
"""The number of columns in ``RECORD_COLUMNS``."""

ToPiece: TypeAlias = Callable[[Row], Stored]


class SqliteReading:
    """A ``StoreReading`` of the state that the open transaction of ``connection`` sees."""

    def __init__(self, path: Path, connection: apsw.Connection, kinds: Collection[str]) -> None:
        self._path = path
        self._connection = connection
        self._damaged = DamagedRows()
        self._damaged_count = 0
        self._is_closed = False
        self._pieces = self._all(kinds)

    @property
    def damaged_count(self) -> int:
        return self._damaged_count

    async def next_page(self) -> list[Stored]:
        """See ``StoreReading.next_page``. Cancellation: after the page."""
        return await self._apart(self._page)

    async def close(self) -> None:
        with trio.CancelScope(shield=True):
            await self._apart(self._close)

    async def _apart(self, step: Callable[[], list[Stored]]) -> list[Stored]:
        return await trio.to_thread.run_sync(step)

    def _page(self) -> list[Stored]:
        page: list[Stored] = []
        weight = 0
        with map_errors(self._path):
            for piece, size in self._pieces:
                page.append(piece)
                weight += size
                if len(page) == MOST_PIECES or weight >= MOST_BYTES:
                    break
        return page

    def _close(self) -> list[Stored]:
        if not self._is_closed:
            self._is_closed = True
            self._connection.close(True)
        return []

    def _all(self, kinds: Collection[str]) -> Iterator[tuple[Stored, int]]:
        for kind in KINDS:
            if kind in kinds:
                statement, to_piece = self._source(kind)
                yield from self._each(decodable(self._connection.execute(statement)), to_piece)

    def _source(self, kind: str) -> tuple[str, ToPiece]:
        if kind == "event":
            return ALL_EVENTS, partial(_event, _waiting(self._connection))
        if kind == "replaced":
            return ALL_REPLACED, partial(_replaced, self._connection)
        return _SOURCES[kind]

    def _each(self, rows: Iterator[Row], to_piece: ToPiece) -> Iterator[tuple[Stored, int]]:
        for row in rows:
            found = list(self._damaged.only_readable((row,), to_piece))
            self._damaged_count += not found
            for piece in found:
                yield piece, sum(len(cell) for cell in row if isinstance(cell, bytes | str))


def _project(row: Row) -> StoredProject:
    with damage_named(row[0]):
        namespace, name, folder = decoded(row)
        return StoredProject(namespace=Namespace(namespace), name=name, folder=folder)


def _merge(row: Row) -> StoredMerge:
    with damage_named(row[0]):
        source, target = decoded(row)
        return StoredMerge(source=Namespace(source), target=Namespace(target))


def _pause(row: Row) -> StoredPause:
    with damage_named(row[0]):
        namespace, session_id, since = decoded(row)
        return StoredPause(namespace=Namespace(namespace), session_id=session_id or None, since=from_text(since))


def _waiting(connection: apsw.Connection) -> dict[str, Literal["waiting", "parked"]]:
    """Whether each event in the buffer waits or is parked, by its id."""
    return {
        event_id: "parked" if is_parked else "waiting"
        for is_parked, event_ids in connection.execute(ALL_WAITING)
        for event_id in json.loads(event_ids)
    }


def _event(waiting: Mapping[str, Literal["waiting", "parked"]], row: Row) -> StoredEvent:
    *columns, stored_at, expired_at, expired_bytes = row
    event = to_event(tuple(columns))
    with damage_named(event.event_id):
        stored_at, expired_at = decoded((stored_at, expired_at))
        return StoredEvent(
            event=event,
            stored_at=from_text(stored_at),
            expired_at=None if expired_at is None else from_text(expired_at),
            expired_bytes=expired_bytes,
            waits=waiting.get(event.event_id),
        )


def _live(row: Row) -> StoredMemory:
    return _memory(row[:RECORD_WIDTH], *row[RECORD_WIDTH:])


def _memory(
    columns: Row, distilled_at: bytes | None, digests: bytes | None = None, sessions: bytes = b"[]"
) -> StoredMemory:
    record = to_record(columns)
    with damage_named(record.record_id):
        return StoredMemory(
            record=record,
            distilled_at=None if distilled_at is None else from_text(distilled_at.decode()),
            file_digests=None if digests is None else json.loads(digests),
            sessions=tuple(dict.fromkeys(json.loads(sessions))),
        )


def _replaced(connection: apsw.Connection, row: Row) -> StoredReplaced:
    distilled_at, number, *texts = row[RECORD_WIDTH:]
    memory = _memory(row[:RECORD_WIDTH], distilled_at)
    with damage_named(memory.record.record_id):
        replacement_id, reason, replaced_at = decoded(tuple(texts))
        return StoredReplaced(
            replacement_id=replacement_id,
            reason=ReplacementReason(reason),
            replaced_at=from_text(replaced_at),
            replacing=replacing_in(connection, number),
            memory=memory,
        )


def _forgotten(row: Row) -> StoredForgotten:
    namespace, event_id, digest = row
    with damage_named(event_id):
        return StoredForgotten(namespace=namespace, event_id=event_id, digest=digest)


_SOURCES: dict[str, tuple[str, ToPiece]] = {
    "project": (ALL_NAMESPACES, _project),
    "merged": (ALL_MERGED, _merge),
    "paused": (ALL_PAUSES, _pause),
    "memory": (ALL_RECORDS, _live),
    **{kind.name.lower(): (statement, partial(to_item, kind)) for kind, statement in ALL_ITEMS.items()},
    "evidence": (ALL_EVIDENCE, to_evidence),
    "parked": (statements.PARKED_CLUSTERS_OF_ALL, to_cluster),
    "told": (statements.TOLD, to_told),
    "forgotten": (ALL_FORGOTTEN, _forgotten),
}
"""The statements and functions of the kinds whose pieces need only their row."""
