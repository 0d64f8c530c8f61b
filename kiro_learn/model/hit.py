"""One entry of a ranking."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId


@attrs.frozen
class Hit:
    """A record that one way of searching found, and how well it fits there: higher is better.

    What ``score`` measures is said by the ranking that the hit is in; scores of two rankings do not compare.
    """

    record_id: RecordId
    created_at: datetime
    score: float
