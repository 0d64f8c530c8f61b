"""When what was captured says what another capture has just said, so that it is not kept again.

The same file is read again and again, and one change is reported by several hooks. An observation repeats another one
if their content hashes are equal and it comes within the window of its type. Knowledge and checkpoints are handed in on
purpose, so that these repeat another only if nothing at all differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from kiro_learn.model.record import MemoryRecord

WINDOW_SECONDS = {"file-read": 60, "file-write": 10, "command": 30, "research": 120}
"""By type of observation, as the search guide of kiro-memory has them."""

OTHER_WINDOW_SECONDS = 30

MOST_ALIKE = 20
"""Captures of one content hash within one window that are compared, the newest ones: a bound for the writer's sake."""

_COMPARED = (
    *("text", "concepts", "files_touched", "files_read", "files_modified"),
    *("observation_type", "knowledge_type", "details"),
)
"""What two records of one content hash may still differ in, of what is handed in."""


@attrs.frozen
class CapturedRecord:
    """A record that was captured directly, and the session it came from."""

    record: MemoryRecord
    session: str | None
    """None: its client named none."""

    def differs_from(self, other: CapturedRecord) -> tuple[str, ...]:
        """The names of what is not the same in both, which have one content hash."""
        own, others = self.record, other.record
        names = tuple(name for name in _COMPARED if getattr(own, name) != getattr(others, name))
        return names if self.session == other.session else (*names, "session")

    def repeated(self, alike: Sequence[CapturedRecord]) -> CapturedRecord | None:
        """Which of ``alike``, those of its content hash within its window, it repeats: one that differs in nothing;
        else, of an observation, the first.
        """
        same = next((each for each in alike if not self.differs_from(each)), None)
        is_observation = self.record.details is None
        return alike[0] if same is None and is_observation and alike else same


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
