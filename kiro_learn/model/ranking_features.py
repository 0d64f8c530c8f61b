"""Where a record comes from and how it reads: what a ranking weighs beside its scores."""

from __future__ import annotations

from datetime import datetime

import attrs


@attrs.frozen
class RankingFeatures:
    """A record's text, and the place in a session at which its first event was said."""

    text: str
    """Title, summary, facts and concepts, a line each, in lower case: all it is for is to look for words in it."""
    session_id: str | None = None
    """None: its first event is not stored in its namespace, as with what was imported."""
    said_at: datetime | None = None
    """Of the same event; None without a session."""
