"""Learning runs, and counts of model calls."""

from __future__ import annotations

from datetime import date
from typing import Protocol

from kiro_learn.model.buffer import LearningRun
from kiro_learn.model.statistics import LlmUsage


class UsageReads(Protocol):
    """Reads of learning runs and of model usage."""

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        """One value per day and project, by day, then by namespace."""
        ...

    async def list_runs(self, limit: int) -> list[LearningRun]:
        """The last learning runs, newest first."""
        ...


class UsageWrites(Protocol):
    """Writes of learning runs and of model usage."""

    def add_llm_usage(self, usage: LlmUsage) -> None:
        """Add to what the project asked of models on that day."""
        ...

    def put_run(self, run: LearningRun) -> None:
        """Store a learning run; one with a known id is replaced."""
        ...
