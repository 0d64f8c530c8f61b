"""Queries about events, and about those that wait for learning."""

from __future__ import annotations

import itertools

import apsw

from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.storage.cursors import cursor_after, place_of
from kiro_learn.storage.interface import EARLIER_PROMPTS_PER_SESSION, EventPage
from kiro_learn.storage.sqlite import statements
from kiro_learn.storage.sqlite.rows import Values, to_event

AFTER_ALL = {"valid_time": "~", "event_id": ""}
"""Sorts after every moment, so a list that begins there begins with the newest."""


def get_event_by_id(connection: apsw.Connection, event_id: EventId) -> Event | None:
    row = connection.execute(statements.GET_EVENT, {"event_id": event_id}).fetchone()
    return None if row is None else to_event(row)


def list_events(
    connection: apsw.Connection, *, namespace: Namespace | None, limit: int, cursor: str | None
) -> EventPage:
    page: Values = _place(cursor) | {"limit": limit + 1}
    if namespace is None:
        found = connection.execute(statements.EVENTS_OF_ALL, page)
        total = connection.execute(statements.COUNT_EVENTS_OF_ALL).get
    else:
        found = connection.execute(statements.EVENTS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(statements.COUNT_EVENTS_OF_NAMESPACE, {"namespace": namespace}).get
    events = tuple(map(to_event, found))
    items = events[:limit]
    return EventPage(items, total, cursor_after(items[-1]) if items and len(events) > limit else None)


def _place(cursor: str | None) -> Values:
    if cursor is None:
        return AFTER_ALL
    valid_time, event_id = place_of(cursor)
    return {"valid_time": to_text(valid_time), "event_id": event_id}


def snapshot_buffer(connection: apsw.Connection, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
    number = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if number is None:
        return BufferSnapshot()
    entries: list[BufferedEvent] = []
    first_of_session: dict[str, int] = {}
    total_bytes = 0
    for position, size_bytes, arrival, *row in connection.execute(statements.BUFFERED_EVENTS, {"number": number[0]}):
        if entries and total_bytes + size_bytes > most_bytes:
            break
        event = to_event(tuple(row))
        entries.append(BufferedEvent(event, position, size_bytes))
        first_of_session.setdefault(event.session_id, arrival)
        total_bytes += size_bytes
    earlier = _earlier_prompts(connection, namespace, first_of_session)
    return BufferSnapshot(tuple(entries), earlier)


def _earlier_prompts(
    connection: apsw.Connection, namespace: Namespace, first_of_session: dict[str, int]
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
    return tuple(to_event(tuple(row)) for _arrival, *row in sorted(found))


def list_buffers(connection: apsw.Connection) -> dict[Namespace, BufferSize]:
    found = connection.execute(statements.BUFFER_SIZES)
    return {namespace: BufferSize(event_count, size_bytes) for namespace, event_count, size_bytes in found}
