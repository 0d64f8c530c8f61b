"""Stores what became of memories that were told: counts, never a text."""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.errors import UnknownRecord
from kiro_learn.model.feedback import Feedback, FeedbackCounts
from kiro_learn.model.ids import RecordId


def add_feedback(connection: apsw.Connection, record_id: RecordId, feedback: Feedback) -> None:
    one = {each.value: int(each is feedback) for each in Feedback}
    found = connection.execute(statements.ADD_FEEDBACK, {"record_id": record_id, **one}).fetchone()
    if found is None:
        raise UnknownRecord(record_id)


def list_feedback(connection: apsw.Connection, limit: int) -> dict[RecordId, FeedbackCounts]:
    return {
        RecordId(record_id): FeedbackCounts(helped=helped, wrong=wrong, used=used, ignored=ignored, objected=objected)
        for record_id, helped, wrong, used, ignored, objected in connection.execute(
            statements.FEEDBACK, {"limit": limit}
        )
    }
