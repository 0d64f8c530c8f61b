"""When an observation says what another one has just said, so that it is not kept again.

The same file is read again and again, and one change is reported by several hooks. Two observations are the same if
their content hashes are, and if the later one comes within the window of its type.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from kiro_learn.model.record import MemoryRecord

WINDOW_SECONDS = {"file-read": 60, "file-write": 10, "command": 30, "research": 120}
"""By type of observation, as the search guide of kiro-memory has them."""

OTHER_WINDOW_SECONDS = 30


def content_hash(record: MemoryRecord) -> str | None:
    """SHA-256 of ``project|type|title|narrative`` in hexadecimal; None of a record that was not captured directly.

    A ``|`` within a part is escaped, so that no two different observations have the same text to be hashed.
    """
    if record.capture_type is None:
        return None
    parts = (record.namespace, record.capture_type, record.title, record.summary)
    text = "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def window_of(capture_type: str) -> timedelta:
    return timedelta(seconds=WINDOW_SECONDS.get(capture_type, OTHER_WINDOW_SECONDS))


def window_around(capture_type: str, now: datetime) -> tuple[datetime, datetime]:
    """The moments, both exclusive, between which an earlier observation makes one of ``now`` a repeat.

    To both sides: after the clock was set back, what was stored just before lies in the future. A clock that was set
    back by more than the window does not keep new observations out.
    """
    window = window_of(capture_type)
    return now - window, now + window
