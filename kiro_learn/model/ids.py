"""Identifiers: ULIDs for events, ``mr_`` + ULID for records."""

from __future__ import annotations

import hashlib
import json
import re
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
