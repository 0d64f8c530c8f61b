"""What actors are made of, and who runs them: a crash is followed by a restart, or by a report.

Some actors work on messages, each with its own reply, which is answered exactly once, whatever becomes of the actor.
Others work on what was noted in their state, or do something again and again with a pause in between. This is the only
file that may catch every exception. It also says what may be told of an exception outside the log.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import attrs
import structlog
import trio

from kiro_learn.errors import ActorStopped, KiroLearnError


def reason(error: Exception) -> str:
    """The text of our own errors; of an unexpected one only the class, since its text may quote stored contents."""
    return str(error) if isinstance(error, KiroLearnError) else type(error).__name__


log = structlog.get_logger()

T = TypeVar("T")
M = TypeVar("M")


class Actor(Protocol):
    """Something that runs until it is told to stop."""

    @property
    def name(self) -> str: ...

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Work. Started means ready to answer; returning means stopped on purpose."""

    def stop(self) -> None:
        """Take no more messages; finish those that wait, then return from ``run``."""

    def abandon(self) -> None:
        """Refuse every waiting message: this actor does not run again."""


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
      Exception: the last crash, if there were more than ``intensity`` allows; waiting messages were refused.
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


# What an actor is made of.


class Reply(Generic[T]):
    """The one answer to one message.

    An actor uses the reply as a context. One of our own errors raised inside becomes the answer. A block that ends
    without an answer tells the asker that the actor is gone.
    """

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._ended = trio.Event()
        self._value: T | None = None
        self._error: KiroLearnError | None = None

    def answer(self, value: T) -> None:
        assert not self._ended.is_set(), "a message is answered once"
        self._value = value
        self._ended.set()

    def refuse(self, error: KiroLearnError) -> None:
        assert not self._ended.is_set(), "a message is answered once"
        self._error = error
        self._ended.set()

    async def wait(self) -> T:
        """The answer; raises the error with which the message was refused.

        Cancellation: the actor goes on; its answer is dropped.
        """
        await self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # set by answer(), whose type it is

    def __enter__(self) -> Reply[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(error, KiroLearnError) and not self._ended.is_set():
            self.refuse(error)
            return True
        if not self._ended.is_set():
            self.refuse(ActorStopped(self._actor))
        return False


async def ask(inbox: trio.MemorySendChannel[M], message: Callable[[Reply[T]], M], *, actor: str) -> T:
    """Send what ``message`` makes of a fresh reply, and wait for the answer. A full inbox makes the sender wait.

    Raises:
      ActorStopped: the actor takes no more messages, or went away before it answered.
      KiroLearnError: the error with which the actor refused.
    """
    reply: Reply[T] = Reply(actor)
    try:
        await _send(inbox, message(reply))
    except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
        raise ActorStopped(actor) from error
    return await reply.wait()


async def _send(inbox: trio.MemorySendChannel[M], message: M) -> None:
    """Like ``inbox.send``, but if there is room, no other task runs first: waiting for the answer lets them run."""
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        inbox.send_nowait(message)
    except trio.WouldBlock:
        await inbox.send(message)


def take_waiting(mail: trio.MemoryReceiveChannel[M], most: float = math.inf) -> list[M]:
    """The messages that wait in ``mail``, oldest first, at most ``most``; does not wait for any."""
    taken: list[M] = []
    while len(taken) < most:
        try:
            taken.append(mail.receive_nowait())
        except (trio.WouldBlock, trio.EndOfChannel, trio.ClosedResourceError):
            break
    return taken


class Stop:
    """Stops an actor's work: the block under way is cancelled, and every later one ends at its first checkpoint."""

    def __init__(self) -> None:
        self._is_thrown = False
        self._scope: trio.CancelScope | None = None

    def throw(self) -> None:
        self._is_thrown = True
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def ends_block(self) -> Iterator[None]:
        with trio.CancelScope() as self._scope:
            if self._is_thrown:
                self._scope.cancel()
            yield


@attrs.frozen(eq=False)
class PeriodicJob:
    """An actor without an inbox. A failure is logged; the job is done again after its pause."""

    name: str
    _work: Callable[[], Awaitable[None]]
    """Is cancelled in the middle when the job is to stop."""
    _first_after_seconds: float = attrs.field(kw_only=True)
    _interval_seconds: float = attrs.field(kw_only=True)
    _stop: Stop = attrs.field(factory=Stop, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do the work every ``interval_seconds`` until ``stop``; the first time after a pause, as a start is busy."""
        task_status.started()
        with self._stop.ends_block():
            await trio.sleep(self._first_after_seconds)
            while True:
                await catch_errors(self.name, self._work)
                await trio.sleep(self._interval_seconds)

    def stop(self) -> None:
        """End, also in the middle of the work."""
        self._stop.throw()

    abandon = stop  # no caller waits for an answer


class Rounds:
    """The loop of an actor that works on what was noted in its state: one round works on all that came meanwhile."""

    def __init__(self, *, gather_seconds: float = 0.0) -> None:
        """``gather_seconds``: how long a round waits for more after the first news; it does not wait after ``stop``."""
        self._gather_seconds = gather_seconds
        self._has_news = trio.Event()
        self._is_stopped = trio.Event()

    def begin_soon(self) -> None:
        """Note that there is something to do."""
        self._has_news.set()

    def stop(self) -> None:
        """Do one last round, and end."""
        self._is_stopped.set()
        self._has_news.set()

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work`` in rounds until ``stop``; the last round works on all that was noted before it."""
        while not self._is_stopped.is_set() or self._has_news.is_set():
            await self._has_news.wait()
            with trio.move_on_after(self._gather_seconds):
                await self._is_stopped.wait()
            self._has_news = trio.Event()
            await work()
