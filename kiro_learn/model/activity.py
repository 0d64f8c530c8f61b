"""What went on in a project, as values for pages and reports."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, TypeAlias

import attrs

Period: TypeAlias = Literal["week", "month"]
"""How far a report looks back."""


@attrs.frozen(kw_only=True)
class Session:
    """One session of an agent in one project, by the events that it reported."""

    session_id: str
    started_at: datetime
    last_event_at: datetime
    event_count: int
    prompt_count: int


@attrs.frozen(kw_only=True)
class Activity:
    """Counts of a project's records."""

    observations: int
    """All records, whether captured directly or learned."""
    since: int
    """Made since a moment that was asked about."""
    captured: int
    """Captured directly."""
    knowledge: int
    stale: int
    """Known to cite files that changed since."""
    types: dict[str, int]
    """By ``MemoryRecord.type_name``, most first."""
    days: dict[date, int]
    """Made on each day (UTC) since that moment that has any, oldest first."""


@attrs.frozen(kw_only=True)
class TokenEconomics:
    """What agents were told from memory, beside what it was made of; of the sessions that are remembered."""

    tellings: int
    """A record, told to a session."""
    told_bytes: int
    """Of titles, summaries and facts, each time."""
    replaced_bytes: int
    """Of the events and captured texts that these records came from, each time."""

    @property
    def saved_bytes(self) -> int:
        """How much less was told; negative where memories are longer than what they came from."""
        return self.replaced_bytes - self.told_bytes

    @property
    def reduction_percent(self) -> float:
        """``saved_bytes`` as a share of what was replaced, to one decimal; 0 where nothing was told."""
        return round(100 * self.saved_bytes / self.replaced_bytes, 1) if self.replaced_bytes else 0.0
