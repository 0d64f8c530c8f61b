"""Looks at the files of all projects from time to time, so that what is stale is known without a question."""

from __future__ import annotations

from functools import partial

import trio

from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.staleness import Staleness

FIRST_AFTER_SECONDS = 600.0
"""After the start, which has other work."""

INTERVAL_SECONDS = 6 * 3600.0

MOST_RECORDS = 10_000
"""Of one project that are looked at in one run, the newest; ``POST /api/stale`` looks at all."""


class StalenessCheck:
    """Runs the stale detection for every project, one after the other. A project that fails is logged and skipped."""

    name = "staleness check"

    def __init__(self, storage: StorageBackend, staleness: Staleness) -> None:
        self._storage = storage
        self._staleness = staleness
        self._stopped = trio.Event()

    async def check_all(self) -> None:
        """Look at each project once. Raises StorageError if the projects cannot be listed."""
        for project in await self._storage.list_projects():
            if self._stopped.is_set():
                return
            detect = partial(self._staleness.detect_in, project.namespace, most_records=MOST_RECORDS)
            await catch_errors(self.name, detect)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Check all projects every ``INTERVAL_SECONDS`` until ``stop``."""
        task_status.started()
        pause_seconds = FIRST_AFTER_SECONDS
        while not self._stopped.is_set():
            with trio.move_on_after(pause_seconds):
                await self._stopped.wait()
                return
            await catch_errors(self.name, self.check_all)
            pause_seconds = INTERVAL_SECONDS

    def stop(self) -> None:
        """End after the project in hand."""
        self._stopped.set()

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()
