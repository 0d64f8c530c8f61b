"""What became of memories that were told, in numbers."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.model.feedback import Feedback, FeedbackCounts
from kiro_learn.model.ids import RecordId


class FeedbackReads(Protocol):
    """Reads of what became of memories."""

    async def list_feedback(self, limit: int) -> dict[RecordId, FeedbackCounts]:
        """Of live records of which anything is known, the ``limit`` newest by id."""
        ...


class FeedbackWrites(Protocol):
    """Writes of what became of memories; it goes with its record."""

    def add_feedback(self, record_id: RecordId, feedback: Feedback) -> None:
        """Count one more.

        Raises:
          UnknownRecord: there is no such record (any more).
        """
        ...
