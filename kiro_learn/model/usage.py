"""What was asked of models."""

from __future__ import annotations

from datetime import date

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen(kw_only=True)
class LlmUsage:
    """What one project asked of models on one day (UTC). The extractive learner is none."""

    day: date
    namespace: Namespace
    call_count: int
    """Answered or not."""
    failure_count: int
    characters_in: int
    """Of prompts."""
    characters_out: int
    """Of answers."""
    seconds: float
