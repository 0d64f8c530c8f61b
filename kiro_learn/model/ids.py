"""Identifiers and times as texts. Identifiers: ULIDs for events, ``mr_`` + ULID for records.

A time is always written in UTC, with microseconds and ``Z``, so that text order is time order.
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
"""The least characters from the end of an id, its random part, that may stand for the id."""

ULID_PATTERN = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
"""Crockford's alphabet, upper case. The first character stays below 8: 26 characters hold 130 bits, a ULID has 128."""


def ending_of(said: str) -> str:
    """The end of an id as a person wrote it, in upper case and without the ellipsis that lists show before it."""
    return said.lstrip(".\N{HORIZONTAL ELLIPSIS}").upper()


def is_event_id(text: str) -> bool:
    return ULID_PATTERN.fullmatch(text) is not None


def is_record_id(text: str) -> bool:
    return text.startswith(RECORD_PREFIX) and is_event_id(text.removeprefix(RECORD_PREFIX))


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UNIQUE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|tooluse|call)_[0-9A-Za-z_-]{20,}", re.IGNORECASE
)
"""UUIDs, and the random call ids of model vendors. Other ids, such as ``call_1``, occur in several sessions."""


def derived_event_id(session_id: str, kind: str, key: str) -> EventId:
    """The id of the event that ``key`` names in this session: always the same, whichever program reports it.

    A key that is unique by itself names one event in all sessions, since agents copy the history of one session into
    the next. All derived ids have the time 0; no other ids do.
    """
    parts = json.dumps([kind, key] if is_unique(key) else [kind, key, session_id])
    number = int.from_bytes(hashlib.sha256(parts.encode("utf-8", "replace")).digest()[:10])
    return EventId("0" * 10 + "".join(_CROCKFORD[number >> shift & 31] for shift in range(75, -1, -5)))


def is_unique(key: str) -> bool:
    """Whether this key is unique everywhere, not only in its session."""
    return _UNIQUE.fullmatch(key) is not None


FIRST_NOT_DERIVED = EventId("0000000001" + "0" * 16)
"""The smallest id that ``derived_event_id`` cannot make."""


def is_derived(record_id: RecordId) -> bool:
    """Whether the id was made by ``derived_event_id``, as for imported records."""
    return record_id.removeprefix(RECORD_PREFIX) < FIRST_NOT_DERIVED


_EXPECTED = "expected a date and time with an offset, as in 2026-01-05T12:17:31Z"
_DATE_EXPECTED = "expected a date, or a date and time with an offset, as in 2026-01-05T12:17:31Z"


def to_text(moment: datetime) -> str:
    """``moment`` (aware) as ``2026-01-05T12:17:31.000000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Read an ISO-8601 date and time with an offset; the result is in UTC.

    Raises:
      ValueError: no date and time, no offset, or outside the years 1 to 9999 of UTC; it says what was expected.
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
    """As ``from_text``. A date alone stands for its midnight in UTC. As an end it is included, so it stands for the
    next midnight, or for the last possible time.

    Raises:
      ValueError: it is neither a date nor a time; says what was expected.
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
    """The UTC time so many milliseconds after 1970, but not after ``latest``: a clock that is ahead is wrong."""
    try:
        return min(datetime.fromtimestamp(milliseconds / 1000, UTC), latest)
    except (OverflowError, OSError, ValueError):
        return latest
