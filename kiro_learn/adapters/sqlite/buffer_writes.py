"""What may be done to what waits for learning."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.buffer_reads import size_of
from kiro_learn.adapters.sqlite.record_writes import number_of
from kiro_learn.model.buffer import BufferedEvent, BufferSize, refuse_strange_entries
from kiro_learn.model.namespace import Namespace


def clear_buffer(connection: apsw.Connection, namespace: Namespace, *, through: int) -> None:
    number, _ = number_of(connection, namespace)
    connection.execute(statements.CLEAR_BUFFER, {"number": number, "through": through})


def compact_buffer(
    connection: apsw.Connection, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]
) -> None:
    number, _ = number_of(connection, namespace)
    place = {"number": number, "through": through}
    waiting: list[rows.Row] = connection.execute(statements.WAITING_SOURCES, place).fetchall()
    sources = [tuple(json.loads(event_ids)) for _position, event_ids in waiting]
    refuse_strange_entries(entries, namespace=namespace, waiting=sources)
    connection.execute(statements.CLEAR_BUFFER, place)
    for (position, _), entry in zip(waiting[len(waiting) - len(entries) :], entries, strict=True):
        connection.execute(statements.PUT_COMPACTED, _values(entry) | {"number": number, "position": position})


def _values(entry: BufferedEvent) -> rows.Values:
    size = {"size_bytes": entry.size_bytes, "event_count": len(entry.sources)}
    if entry.stands_for:
        return rows.from_compaction(entry.event, entry.stands_for) | size
    return {"event_id": entry.event.event_id, "compaction_json": None, "stands_for_json": None} | size


def park_buffer(connection: apsw.Connection, namespace: Namespace, *, through: int) -> None:
    number, _ = number_of(connection, namespace)
    connection.execute(statements.SET_PARKED, {"number": number, "through": through, "is_parked": 1})


def unpark_buffer(connection: apsw.Connection, namespace: Namespace, *, most_bytes: int) -> BufferSize:
    number, _ = number_of(connection, namespace)
    through = _last_that_fits(connection, number, most_bytes)
    connection.execute(statements.SET_PARKED, {"number": number, "through": through, "is_parked": 0})
    return size_of(connection, number)


def _last_that_fits(connection: apsw.Connection, number: int, most_bytes: int) -> int:
    """Position of the last parked entry that may wait again; 0 if none is parked."""
    through = total_bytes = 0
    for position, size_bytes in connection.execute(statements.PARKED_SIZES, {"number": number}):
        if through and total_bytes + size_bytes > most_bytes:
            break
        through = position
        total_bytes += size_bytes
    return through
