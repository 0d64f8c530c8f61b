"""Says of a memory on which branch it was learned."""

from __future__ import annotations

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.plain_text import one_line

BRANCH_FACTOR = 1.25
"""By which the score of what was learned on the branch that is checked out is multiplied. The first hit of a prompt is
mostly further than that ahead of what has nothing to do with it."""

MOST_SHOWN = 60


def branch_note(record: MemoryRecord, here: str | None = None) -> str:
    """``on branch X`` where that is not the one checked out ``here``; else nothing. One harmless line."""
    if record.branch is None or record.branch == here:
        return ""
    return f"on branch {one_line(record.branch)[:MOST_SHOWN]}"
