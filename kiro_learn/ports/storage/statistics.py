"""Counts of events and records."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import ProjectInfo, Stats


class StatisticsReads(Protocol):
    """Reads of counts and of the list of projects."""

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        """Counts of events and records, of one project or, if ``namespace`` is None, of all."""
        ...

    async def list_projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""
        ...
