"""When a project learns: the settings of it, in one value."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class ScheduleSettings:
    """What decides when a buffer is learned, compacted or set aside."""

    buffer_idle_seconds: float
    """After the last event, a run is due."""
    extraction_bytes: int
    """As soon as so much waits, a run is due; no run takes more."""
    retry_seconds: float
    """After the first failure; doubled after each further one, up to ``cooldown_seconds``."""
    cooldown_seconds: float
    """Of the breaker."""
    compacts: bool
    compaction_bytes: int
    """A buffer that is larger and is not being learned is compacted."""
    compaction_failures: int
    """After so many in a row, the oldest half is set aside."""
    ceiling_bytes: int
    """Beyond, the oldest half is set aside at once."""
