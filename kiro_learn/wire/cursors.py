"""The place where the next slice of a list starts, as an opaque text, the same in every store."""

from __future__ import annotations

import base64
import json
from datetime import datetime

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId, from_text, to_text
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import Session


def cursor_after(event: Event) -> str:
    """A cursor for the events after ``event`` in a list by their time."""
    return _cursor(event.valid_time, event.event_id)


def session_cursor_after(session: Session) -> str:
    """A cursor for the sessions after ``session`` in a list by their last events. ``place_of`` reads it as the place of
    that event.
    """
    return _cursor(session.last_event_at, session.last_event_id)


def record_cursor_after(record: MemoryRecord) -> str:
    """A cursor for the records after ``record`` in a list, newest first."""
    return _cursor(record.created_at, record.record_id)


def record_place_of(cursor: str) -> tuple[datetime, RecordId]:
    """The place in a cursor that ``record_cursor_after`` made.

    Raises:
      InvalidRequest: the cursor is not one of ours.
    """
    moment, record_id = _place(cursor)
    return moment, RecordId(record_id)


def _cursor(moment: datetime, identifier: str) -> str:
    place = json.dumps([to_text(moment), identifier], separators=(",", ":"))
    return base64.urlsafe_b64encode(place.encode()).decode()


def place_of(cursor: str) -> tuple[datetime, EventId]:
    """The place in a cursor that ``cursor_after`` made.

    Raises:
      InvalidRequest: the cursor is not one of ours.
    """
    moment, event_id = _place(cursor)
    return moment, EventId(event_id)


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        moment, identifier = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        place = (from_text(moment), str(identifier))
        place[1].encode()
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidRequest([("$.cursor", "expected the next_cursor of an earlier answer")]) from error
    return place
