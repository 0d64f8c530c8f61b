"""Settings that travel as one value: when a project learns, and how a search scores."""

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


@attrs.frozen(kw_only=True)
class Weights:
    """How much each signal counts beside the others, 0 or more."""

    semantic: float
    fts5: float
    recency: float
    project_match: float


@attrs.frozen(kw_only=True)
class ScoringSettings:
    """What decides a score, beside the signals of a record."""

    weights: Weights
    half_life_hours: float
    """After which the recency of a record is half of what it was."""
    knowledge_boost: float
    """By which the score of knowledge is multiplied."""
