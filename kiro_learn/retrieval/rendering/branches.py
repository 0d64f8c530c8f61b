"""Says of a memory on which branch it was learned, or in which commit it stands, and when."""

from __future__ import annotations

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.plain_text import one_line

BRANCH_FACTOR = 1.25
"""By which the score of what was learned on the branch that is checked out is multiplied. The first hit of a prompt is
mostly further than that ahead of what has nothing to do with it."""

MOST_SHOWN = 60
COMMIT_CHARACTERS = 7


def branch_note(record: MemoryRecord, here: str | None = None) -> str:
    """``on branch X`` where that is not the one checked out ``here``; else nothing. One harmless line."""
    if record.branch is None or record.branch == here:
        return ""
    return f"on branch {one_line(record.branch)[:MOST_SHOWN]}"


def when(record: MemoryRecord) -> str:
    """The day of a memory; of one that a commit's message says, which commit that is."""
    commit = record.details.commit if record.details else None
    if commit is None:
        return f"{record.created_at:%Y-%m-%d}"
    return f"commit {commit[:COMMIT_CHARACTERS]}, {record.created_at.day} {record.created_at:%b %Y}"
