"""What actors are made of: a message that carries its own reply, which is answered exactly once, whatever becomes of
the actor; the stop of an endless block, also one that a supervisor started again after a crash; doing something again
and again, with a pause in between; and doing it whenever there is something to do, for all that came meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Generic, TypeVar

import attrs
import trio

from kiro_learn.errors import ActorStopped, KiroLearnError
from kiro_learn.runtime.supervisor import catch_errors

T = TypeVar("T")
M = TypeVar("M")


class Reply(Generic[T]):
    """The one answer to one message.

    Used as a context by the actor that works on it: one of our own errors raised inside becomes the answer, and a
    block that ends without one tells the asker that the actor is gone.
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
        """The answer; or the error it was refused with.

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
      KiroLearnError: whatever it refused with.
    """
    reply: Reply[T] = Reply(actor)
    try:
        await _send(inbox, message(reply))
    except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
        raise ActorStopped(actor) from error
    return await reply.wait()


async def _send(inbox: trio.MemorySendChannel[M], message: M) -> None:
    """As ``inbox.send``, but where there is room, without letting others run first: to wait is the answer's part."""
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        inbox.send_nowait(message)
    except trio.WouldBlock:
        await inbox.send(message)


def take_waiting(mail: trio.MemoryReceiveChannel[M], most: float = math.inf) -> list[M]:
    """The messages that wait in ``mail``, oldest first, without waiting for any; at most so many."""
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
    """Cancelled where it is once the job is to stop."""
    _first_after_seconds: float
    _interval_seconds: float
    _stop: Stop = attrs.field(factory=Stop, init=False)

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

    abandon = stop  # no caller waits for an answer


class Rounds:
    """The loop of an actor that works on what was noted in its state: a round is for all that came meanwhile."""

    def __init__(self, *, gather_seconds: float = 0.0) -> None:
        """``gather_seconds``: how long a round waits for more after the first news; not once it is to stop."""
        self._gather_seconds = gather_seconds
        self._has_news = trio.Event()
        self._is_stopped = trio.Event()

    def begin_soon(self) -> None:
        """There is something to do."""
        self._has_news.set()

    def stop(self) -> None:
        """Do one last round, and end."""
        self._is_stopped.set()
        self._has_news.set()

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work`` in rounds until ``stop``; what was noted by then is worked on."""
        while not self._is_stopped.is_set() or self._has_news.is_set():
            await self._has_news.wait()
            with trio.move_on_after(self._gather_seconds):
                await self._is_stopped.wait()
            self._has_news = trio.Event()
            await work()
