"""What was said in a history, less what programs put into it, and when; total over whatever stands there."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from kiro_learn.model.ids import is_unique

OF_A_MEMORY = "sessions of memories themselves"

_MEMORY_FOLDERS = frozenset({".kiro-learn", ".claude-mem", ".kiro-memory"})
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
_MOST_SECONDS = 253_402_300_799
"""The end of the year 9999."""
_LEAST_MILLISECONDS = 100_000_000_000
"""Of a time since 1970 in milliseconds: that is in 1973, and in seconds it would be in the year 5138."""


def without_injected(text: str) -> str:
    """``text`` without the reminders that agents put into a prompt. What we told with it is cut out for all readers."""
    return (_REMINDER.sub("", text) if "<system-reminder>" in text else text).strip()


def is_of_a_memory(folder: str) -> bool:
    """Whether a session in ``folder`` is that of a memory's own program."""
    return not _MEMORY_FOLDERS.isdisjoint(PurePath(folder).parts)


def moment(value: Any) -> datetime | None:
    """The time that ``value`` says: RFC 3339, or seconds or milliseconds since 1970; None if it says none."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    seconds = value / 1000 if value >= _LEAST_MILLISECONDS else value
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _MOST_SECONDS else None


def key_of_call(call_id: str, record: str) -> str:
    """The key of a use of a tool: some models count their calls anew in every message, and then the record tells."""
    return call_id if is_unique(call_id) else f"{call_id} {record}"


def text_in(fields: dict[str, Any], name: str) -> str:
    """The text of this name; empty if it is none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def object_in(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """The object of this name; empty if it is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Those of a list that are objects; nothing if it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
