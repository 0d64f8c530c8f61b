"""Handles unexpected exceptions: restart or report, and what may be said of them outside the log. The only file that
may catch every exception.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

import attrs
import structlog
import trio

from kiro_learn.errors import KiroLearnError


def reason(error: Exception) -> str:
    """Our own errors in their words; of an unexpected one only its class, since its text may quote what was stored."""
    return str(error) if isinstance(error, KiroLearnError) else type(error).__name__


log = structlog.get_logger()

T = TypeVar("T")


class Actor(Protocol):
    """Something that runs until it is told to stop."""

    @property
    def name(self) -> str: ...

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Work. Started means ready to answer; returning means stopped on purpose."""
        ...

    def stop(self) -> None:
        """Take no more messages; finish those that wait, then return from ``run``."""
        ...

    def abandon(self) -> None:
        """Refuse every waiting message: this actor does not run again."""
        ...


@attrs.frozen(kw_only=True)
class RestartIntensity:
    """How often an actor may crash before the error is raised to its owner."""

    max_restarts: int = 5
    within_seconds: float = 60.0


async def supervise(
    actor: Actor,
    *,
    intensity: RestartIntensity = RestartIntensity(),
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run ``actor`` until it returns, starting it again when it crashes.

    Raises:
      Exception: the last crash, when there were more than ``intensity`` allows; what waited was refused.
    """
    crashes: deque[float] = deque()
    started = _StartedOnce(task_status)
    while True:
        try:
            await actor.run(task_status=started)
        except Exception as error:
            now = trio.current_time()
            crashes.append(now)
            while crashes[0] <= now - intensity.within_seconds:
                crashes.popleft()
            gave_up = len(crashes) > intensity.max_restarts
            log.exception("actor.crashed", actor=actor.name, error=type(error).__name__, gave_up=gave_up)
            if gave_up:
                raise
        else:
            return


class _StartedOnce:
    """Passes on the first ``started`` only: after a restart, no nursery waits for it."""

    def __init__(self, task_status: trio.TaskStatus[None]) -> None:
        self._task_status: trio.TaskStatus[None] | None = task_status

    def started(self, value: None = None) -> None:
        if self._task_status is not None:
            self._task_status.started(value)
            self._task_status = None


@asynccontextmanager
async def supervised(actor: Actor, *, intensity: RestartIntensity = RestartIntensity()) -> AsyncIterator[None]:
    """Run ``actor`` for the length of the block; at its end the actor finishes what waits."""
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(run_to_the_end, actor, intensity=intensity))
        try:
            yield
        finally:
            actor.stop()


async def run_to_the_end(
    actor: Actor,
    *,
    intensity: RestartIntensity = RestartIntensity(),
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """``supervise``, then ``abandon``, so that no caller waits for the actor, however it ended."""
    try:
        await supervise(actor, intensity=intensity, task_status=task_status)
    finally:
        actor.abandon()


async def catch_errors(what: str, work: Callable[[], Awaitable[T]]) -> T | Exception:
    """The result of ``work``, or the exception that ended it: for work whose failure must not reach the caller.

    Cancellation passes through.
    """
    with ErrorBoundary(what) as boundary:
        return await work()
    assert boundary.error is not None, "nothing else ends a block early"
    return boundary.error


@attrs.define
class ErrorBoundary:
    """A block whose failure must not reach its caller: it is logged, and is ``error`` afterwards.

    Cancellation passes through.
    """

    _what: str
    error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        log.warning("work.failed", what=self._what, error=type(error).__name__, exc_info=error)
        self.error = error
        return True
