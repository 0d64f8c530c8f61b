"""The buffers of events that wait to be learned: queries about them, and their changes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import apsw

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, decodable
from kiro_learn.adapters.sqlite.records import number_of
from kiro_learn.adapters.sqlite.rows import Values, to_compaction, to_event
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot
from kiro_learn.model.event import Event, body_bytes
from kiro_learn.model.ids import EventId, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.events import EARLIER_PROMPTS_PER_SESSION

BEFORE_ALL = ""
"""A text that sorts before every time."""


def get_buffer_size(connection: apsw.Connection, namespace: Namespace) -> BufferSize:
    number = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    return BufferSize() if number is None else size_of(connection, number[0])


def size_of(connection: apsw.Connection, namespace_number: int) -> BufferSize:
    return BufferSize(*connection.execute(statements.BUFFER_SIZE, {"number": namespace_number}).get)


def list_buffers(connection: apsw.Connection) -> dict[Namespace, BufferSize]:
    found = decodable(connection.execute(statements.BUFFER_SIZES))
    return {namespace: BufferSize(*size) for namespace, *size in found}


def snapshot_buffer(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, *, most_bytes: int
) -> BufferSnapshot:
    number = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if number is None:
        return BufferSnapshot()
    passed: list[int] = []

    def to_entry(row: Row) -> tuple[BufferedEvent, int]:
        passed.append(row[0])
        return _to_entry(row)

    rows = connection.execute(statements.BUFFERED_EVENTS, {"number": number[0]})
    snapshot = _snapshot(connection, namespace, damaged.only_readable(rows, to_entry), most_bytes, damaged)
    return snapshot if snapshot.entries else BufferSnapshot(damaged_through=max(passed, default=0))


def snapshot_events(
    connection: apsw.Connection,
    damaged: DamagedRows,
    namespace: Namespace,
    *,
    since: datetime | None,
    after: EventId | None,
    most_bytes: int,
) -> BufferSnapshot:
    place: Values = {
        "namespace": namespace,
        "since": BEFORE_ALL if since is None else to_text(since),
        "after": 0 if after is None else _arrival(connection, namespace, after),
    }
    arrivals = connection.execute(statements.SETTLED_ARRIVALS, place)
    entries = damaged.only_readable(arrivals, lambda row: (_settled(connection, row[0]), int(row[0])))
    return _snapshot(connection, namespace, entries, most_bytes, damaged)


def _arrival(connection: apsw.Connection, namespace: Namespace, event_id: EventId) -> int:
    values = {"event_id": event_id, "namespace": namespace}
    arrival: int | None = connection.execute(statements.ARRIVAL, values).get
    if arrival is None:
        raise InvalidRequest([("$.after", "expected the id of an event of this project")])
    return arrival


def _settled(connection: apsw.Connection, arrival: int) -> BufferedEvent:
    event = to_event(connection.execute(statements.EVENT_BY_ARRIVAL, {"arrival": arrival}).get)
    return BufferedEvent(event, 0, body_bytes(event.body))


def _to_entry(row: Row) -> tuple[BufferedEvent, int]:
    """A row of ``BUFFERED_EVENTS``, and the arrival of the first event that it stands for."""
    position, size_bytes, compaction_json, stands_for_json, arrival, *event_row = row
    if compaction_json is None:
        return BufferedEvent(to_event(tuple(event_row)), position, size_bytes), arrival
    event, stands_for = to_compaction(compaction_json, stands_for_json)
    return BufferedEvent(event, position, size_bytes, stands_for), arrival


def _snapshot(
    connection: apsw.Connection,
    namespace: Namespace,
    waiting: Iterable[tuple[BufferedEvent, int]],
    most_bytes: int,
    damaged: DamagedRows,
) -> BufferSnapshot:
    """The first entries of ``waiting`` that fit into ``most_bytes``, but at least one if there is any."""
    entries: list[BufferedEvent] = []
    first_of_session: dict[str, int] = {}
    total_bytes = 0
    for entry, arrival in waiting:
        if entries and total_bytes + entry.size_bytes > most_bytes:
            break
        entries.append(entry)
        first_of_session.setdefault(entry.event.session_id, arrival)
        total_bytes += entry.size_bytes
    return BufferSnapshot(tuple(entries), _earlier_prompts(connection, namespace, first_of_session, damaged))


def _earlier_prompts(
    connection: apsw.Connection, namespace: Namespace, first_of_session: dict[str, int], damaged: DamagedRows
) -> tuple[Event, ...]:
    found = itertools.chain.from_iterable(
        connection.execute(
            statements.EARLIER_PROMPTS,
            {
                "namespace": namespace,
                "session_id": session_id,
                "before": before,
                "limit": EARLIER_PROMPTS_PER_SESSION,
            },
        ).fetchall()
        for session_id, before in first_of_session.items()
    )
    return tuple(damaged.only_readable((tuple(row) for _arrival, *row in sorted(found)), to_event))


# Changes of a buffer.


def are_waiting(connection: apsw.Connection, namespace: Namespace, positions: Collection[int]) -> bool:
    number, _ = number_of(connection, namespace)
    asked: Values = {"number": number, "numbers": json.dumps(sorted(positions))}
    return int(connection.execute(statements.COUNT_WAITING, asked).get) == len(positions)


def clear_buffer(connection: apsw.Connection, namespace: Namespace, *, through: int) -> None:
    number, _ = number_of(connection, namespace)
    connection.execute(statements.CLEAR_BUFFER, {"number": number, "through": through})


def compact_buffer(
    connection: apsw.Connection, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]
) -> None:
    number, _ = number_of(connection, namespace)
    place = {"number": number, "through": through}
    waiting: list[Row] = connection.execute(statements.WAITING_SOURCES, place).fetchall()
    sources = [tuple(json.loads(event_ids)) for _position, event_ids in waiting]
    _refuse_strange(entries, namespace=namespace, waiting=sources)
    connection.execute(statements.CLEAR_BUFFER, place)
    for (position, _), entry in zip(waiting[len(waiting) - len(entries) :], entries, strict=True):
        connection.execute(statements.PUT_COMPACTED, _values(entry) | {"number": number, "position": position})


def _refuse_strange(
    entries: Sequence[BufferedEvent], *, namespace: Namespace, waiting: Sequence[tuple[EventId, ...]]
) -> None:
    """See ``StorageTransaction.compact_buffer``. ``waiting``: the sources of each entry that is replaced.

    Raises:
      InvalidRequest: ``entries`` would lose their place, their project or their sources.
    """
    if len(entries) > len(waiting):
        raise InvalidRequest([("$.entries", f"expected at most {len(waiting)}, found {len(entries)}")])
    known = {event_id for sources in waiting for event_id in sources}
    for entry in entries:
        if entry.event.namespace != namespace or not known.issuperset(entry.sources):
            raise InvalidRequest([("$.entries", "expected entries that stand for what waits in this project")])
    themselves = [entry.event.event_id for entry in entries if not entry.stands_for]
    if len(set(themselves)) < len(themselves):
        raise InvalidRequest([("$.entries", "expected each event once")])


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
    """The position of the last parked entry that may wait again; 0 if none is parked."""
    through = total_bytes = 0
    for position, size_bytes in connection.execute(statements.PARKED_SIZES, {"number": number}):
        if through and total_bytes + size_bytes > most_bytes:
            break
        through = position
        total_bytes += size_bytes
    return through
