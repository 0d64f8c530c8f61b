"""What was asked of models."""

from __future__ import annotations

from datetime import date

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen
class LlmCall:
    """A call of a model that was begun."""

    day: date
    namespace: Namespace
    started_at: float
    """In seconds, on the clock of the event loop."""


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

    def __add__(self, other: LlmUsage) -> LlmUsage:
        """Of the same day and project."""
        return attrs.evolve(
            self,
            call_count=self.call_count + other.call_count,
            failure_count=self.failure_count + other.failure_count,
            characters_in=self.characters_in + other.characters_in,
            characters_out=self.characters_out + other.characters_out,
            seconds=self.seconds + other.seconds,
        )
