"""Does something again and again, with a pause in between, until it is told to stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from kiro_learn.runtime.stopping import Stop
from kiro_learn.runtime.supervisor import catch_errors


class PeriodicJob:
    """An actor without an inbox. A failure is logged; the job is done again after its pause."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        *,
        first_after_seconds: float,
        interval_seconds: float,
    ) -> None:
        """``work`` is cancelled where it is once the job is to stop."""
        self.name = name
        self._work = work
        self._first_after_seconds = first_after_seconds
        self._interval_seconds = interval_seconds
        self._stop = Stop()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do the work every ``interval_seconds`` until ``stop``; the start has other work first."""
        task_status.started()
        with self._stop.ends_block():
            await trio.sleep(self._first_after_seconds)
            while True:
                await catch_errors(self.name, self._work)
                await trio.sleep(self._interval_seconds)

    def stop(self) -> None:
        """End, also in the middle of the work."""
        self._stop.throw()

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()
