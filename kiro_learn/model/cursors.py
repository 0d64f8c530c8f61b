"""Where the next slice of the events starts, as an opaque text: the same in every store."""

from __future__ import annotations

import base64
import json
from datetime import datetime

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.moment import from_text, to_text


def cursor_after(event: Event) -> str:
    """A cursor for the events that come after ``event`` in a list of the newest first."""
    place = json.dumps([to_text(event.valid_time), event.event_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(place.encode()).decode()


def place_of(cursor: str) -> tuple[datetime, EventId]:
    """What ``cursor_after`` was told.

    Raises:
      InvalidRequest: it is none of ours.
    """
    try:
        moment, event_id = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        place = (from_text(moment), EventId(str(event_id)))
    except (ValueError, TypeError) as error:
        raise InvalidRequest([("$.cursor", "expected the next_cursor of an earlier answer")]) from error
    return place
