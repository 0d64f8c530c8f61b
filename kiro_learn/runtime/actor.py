"""What actors are made of: a message that carries its own reply, which is answered exactly once, whatever becomes of
the actor; the stop of an endless block, also one that a supervisor started again after a crash; and doing something
again and again, with a pause in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Generic, TypeVar

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
