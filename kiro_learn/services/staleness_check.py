"""Looks at the files of all projects from time to time, so that what is stale is known without a question."""

from __future__ import annotations

from functools import partial

from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.actor import PeriodicJob
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.staleness import Staleness

NAME = "staleness check"

FIRST_AFTER_SECONDS = 600.0
"""After the start, which has other work."""

INTERVAL_SECONDS = 6 * 3600.0

MOST_RECORDS = 10_000
"""Of one project that are looked at in one run, the newest; ``POST /api/stale`` looks at all."""


def staleness_check(storage: StorageBackend, staleness: Staleness) -> PeriodicJob:
    """Runs the stale detection for every project, one after the other. A project that fails is logged and skipped."""

    async def check_all() -> None:
        for project in await storage.list_projects():
            await catch_errors(NAME, partial(staleness.detect_in, project.namespace, most_records=MOST_RECORDS))

    return PeriodicJob(NAME, check_all, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=INTERVAL_SECONDS)
