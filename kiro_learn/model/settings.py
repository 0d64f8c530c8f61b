"""Settings that travel as one value: when a project learns, how a search scores, and one as people see it."""

from __future__ import annotations

import enum

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


class SettingOrigin(enum.StrEnum):
    """Where the value of a setting comes from."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    OPTION = "option"
    """Of the command that started the daemon."""


@attrs.frozen(kw_only=True)
class Setting:
    """One setting as people see it."""

    key: str
    """Its section and name, as ``recall.budget_seconds``."""
    value: bool | float | str
    """In force; a secret in it is redacted."""
    default: bool | float | str
    origin: SettingOrigin
    variable: str
    """The environment variable that would win over the file."""
    line: int = 0
    """Of ``settings.toml``, if the value stands there; 0 if it does not, or is written in an odd way."""
