"""Identifiers: ULIDs for events, ``mr_`` + ULID for records."""

from __future__ import annotations

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
