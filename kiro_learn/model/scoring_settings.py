"""How a search scores: the settings of it, in one value."""

from __future__ import annotations

import attrs


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
