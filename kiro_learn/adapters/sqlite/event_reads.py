"""Queries about events."""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.damaged_row import DamagedRow
from kiro_learn.adapters.sqlite.rows import Values, to_event
from kiro_learn.model.cursors import cursor_after, place_of
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import EventPage

AFTER_ALL = {"valid_time": "~", "event_id": ""}
"""Sorts after every moment, so a list that begins there begins with the newest."""


def get_event_by_id(connection: apsw.Connection, event_id: EventId) -> Event | None:
    row = connection.execute(statements.GET_EVENT, {"event_id": event_id}).fetchone()
    return None if row is None else to_event(row)


def list_events(
    connection: apsw.Connection, damaged: DamagedRows, *, namespace: Namespace | None, limit: int, cursor: str | None
) -> EventPage:
    page: Values = _place(cursor)
    if namespace is None:
        found = connection.execute(statements.EVENTS_OF_ALL, page)
        total = connection.execute(statements.COUNT_EVENTS_OF_ALL).get
    else:
        found = connection.execute(statements.EVENTS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(statements.COUNT_EVENTS_OF_NAMESPACE, {"namespace": namespace}).get
    events: list[Event] = []
    broken: list[str] = []
    since_last: list[str] = []
    for event in damaged.readable(found, to_event):
        if isinstance(event, DamagedRow):
            since_last.append(event.row_id)
        elif len(events) == limit:
            return EventPage(tuple(events), total, cursor_after(events[-1]), tuple(broken))
        else:
            events.append(event)
            broken += since_last
            since_last.clear()
    return EventPage(tuple(events), total, None, (*broken, *since_last))


def _place(cursor: str | None) -> Values:
    if cursor is None:
        return AFTER_ALL
    valid_time, event_id = place_of(cursor)
    return {"valid_time": to_text(valid_time), "event_id": event_id}
