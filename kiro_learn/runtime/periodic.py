"""Does something again and again, with a pause in between, until it is told to stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from kiro_learn.runtime.supervisor import catch_errors


class PeriodicJob:
    """An actor without an inbox. A failure is logged; the job is done again after its pause."""

    def __init__(
        self,
        name: str,
        work: Callable[[trio.Event], Awaitable[None]],
        *,
        first_after_seconds: float,
        interval_seconds: float,
    ) -> None:
        """``work`` gets an event that is set once it should end early."""
        self.name = name
        self._work = work
        self._first_after_seconds = first_after_seconds
        self._interval_seconds = interval_seconds
        self._stopped = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do the work every ``interval_seconds`` until ``stop``; the start has other work first."""
        task_status.started()
        pause_seconds = self._first_after_seconds
        while not self._stopped.is_set():
            with trio.move_on_after(pause_seconds):
                await self._stopped.wait()
                return
            await catch_errors(self.name, self._do)
            pause_seconds = self._interval_seconds

    async def _do(self) -> None:
        await self._work(self._stopped)

    def stop(self) -> None:
        """End after what is in hand."""
        self._stopped.set()

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()
