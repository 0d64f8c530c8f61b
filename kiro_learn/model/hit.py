"""One entry of a ranking, and what a ranking weighs beside its scores: where a record comes from and how it reads."""

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


@attrs.frozen
class RankingFeatures:
    """A record's text, and the place in a session at which its first event was said."""

    text: str
    """Title, summary, facts and concepts, a line each, in lower case: all it is for is to look for words in it."""
    session_id: str | None = None
    """None: its first event is not stored in its namespace, as with what was imported."""
    said_at: datetime | None = None
    """Of the same event; None without a session."""
