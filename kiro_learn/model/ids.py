"""Identifiers and moments as texts. Identifiers: ULIDs for events, ``mr_`` + ULID for records.

A moment is written in one way: UTC, microseconds, ``Z``; so that text order is time order.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import NewType

EventId = NewType("EventId", str)
RecordId = NewType("RecordId", str)

RECORD_PREFIX = "mr_"

LEAST_ENDING = 4
"""Characters of the end of an id, its random part, that may name what has it."""

ULID_PATTERN = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
"""Crockford's alphabet, upper case. The first character stays below 8: 26 characters hold 130 bits, a ULID has 128."""


def ending_of(said: str) -> str:
    """The end of an id, as somebody wrote it, as it is in the id: lists show an ellipsis before it."""
    return said.lstrip(".\N{HORIZONTAL ELLIPSIS}").upper()


def is_event_id(text: str) -> bool:
    return ULID_PATTERN.fullmatch(text) is not None


def is_record_id(text: str) -> bool:
    return text.startswith(RECORD_PREFIX) and is_event_id(text.removeprefix(RECORD_PREFIX))


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UNIQUE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|tooluse|call)_[0-9A-Za-z_-]{20,}", re.IGNORECASE
)
"""UUIDs, and ids of calls as models' vendors draw them at random. Others, such as ``call_1``, come again elsewhere."""


def derived_event_id(session_id: str, kind: str, key: str) -> EventId:
    """The id of the event that ``key`` names in this session: the same from whatever reports it, and however often.

    A key that is unique by itself is one event in whatever session it stands: agents copy the history of one session
    into the next. All of these ids have the time 0, which no other has.
    """
    parts = json.dumps([kind, key] if is_unique(key) else [kind, key, session_id])
    number = int.from_bytes(hashlib.sha256(parts.encode("utf-8", "replace")).digest()[:10])
    return EventId("0" * 10 + "".join(_CROCKFORD[number >> shift & 31] for shift in range(75, -1, -5)))


def is_unique(key: str) -> bool:
    """Whether nothing else anywhere has this key, whichever session it comes from."""
    return _UNIQUE.fullmatch(key) is not None


FIRST_NOT_DERIVED = EventId("0000000001" + "0" * 16)
"""The least id that ``derived_event_id`` does not make."""


def is_derived(record_id: RecordId) -> bool:
    """Whether it was made of ``derived_event_id``, as of records that came from elsewhere."""
    return record_id.removeprefix(RECORD_PREFIX) < FIRST_NOT_DERIVED


_EXPECTED = "expected a date and time with an offset, as in 2026-01-05T12:17:31Z"
_DATE_EXPECTED = "expected a date, or a date and time with an offset, as in 2026-01-05T12:17:31Z"


def to_text(moment: datetime) -> str:
    """``moment`` (aware) as ``2026-01-05T12:17:31.000000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Read an ISO-8601 moment with an offset; the answer is in UTC.

    Raises:
      ValueError: it is no date and time, says no offset, or is in no year of the calendar of UTC; what was expected.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(_EXPECTED) from error
    if moment.tzinfo is None:
        raise ValueError(_EXPECTED)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("expected a moment that lies in the years 1 to 9999 of UTC") from error


def from_text_or_date(text: str, *, is_end: bool = False) -> datetime:
    """As ``from_text``. A date alone stands for its midnight in UTC; as an end, which it is part of, for the next one,
    or for the last moment there is.

    Raises:
      ValueError: it is neither; what was expected.
    """
    if "T" in text:
        return from_text(text)
    try:
        midnight = from_text(f"{text}T00:00:00Z")
    except ValueError as error:
        raise ValueError(_DATE_EXPECTED) from error
    try:
        return midnight + timedelta(days=is_end)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def from_milliseconds(milliseconds: int, *, latest: datetime) -> datetime:
    """The UTC moment that many milliseconds after 1970, not after ``latest``: no clock is right about the future."""
    try:
        return min(datetime.fromtimestamp(milliseconds / 1000, UTC), latest)
    except (OverflowError, OSError, ValueError):
        return latest
