"""Queues prompts that arrive together, and pauses background work while several of them run.

One after the other, most prompts are answered early; side by side, all would be answered as late as the last.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import attrs
import trio


@attrs.define(eq=False)
class Ticket:
    """One prompt's place in the queue."""

    _lease_seconds: float
    _patience_seconds: float
    _before: Ticket | None
    _begun: trio.Event = attrs.Factory(trio.Event)
    _ended: trio.Event = attrs.Factory(trio.Event)
    _lease_end: float = 0.0

    async def begin(self) -> None:
        """Wait until the ticket before has ended or its lease has run out, at most ``patience_seconds``."""
        if self._before is not None:
            with trio.move_on_after(self._patience_seconds):
                await self._before.let_go()
        self._note_begun()

    async def let_go(self) -> None:
        """Wait until the next ticket may begin: this one has ended, or its lease has run out."""
        await self._begun.wait()
        with trio.move_on_at(self._lease_end):
            await self._ended.wait()

    def end(self) -> None:
        """End the turn, also of a ticket that was cancelled before it began."""
        self._note_begun()
        self._ended.set()

    def _note_begun(self) -> None:
        if not self._begun.is_set():
            self._before = None  # else each ticket would keep all earlier ones alive
            self._lease_end = trio.current_time() + self._lease_seconds
            self._begun.set()


class AdmissionQueue:
    """A first-come queue of tickets. A ticket's lease expires, so that a blocked prompt does not block the queue.

    Args:
      lease_seconds: from the beginning of a turn until the next one may begin, if the turn has not ended before.
      patience_seconds: the longest wait of one ticket, however many came before.
    """

    def __init__(self, *, lease_seconds: float, patience_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._patience_seconds = patience_seconds
        self._last: Ticket | None = None

    @contextmanager
    def queued(self) -> Iterator[Ticket]:
        """A ticket at the end of the queue; it ends with the block."""
        turn = self._last = Ticket(self._lease_seconds, self._patience_seconds, self._last)
        try:
            yield turn
        finally:
            turn.end()


CROWD = 2
"""Prompts that make a crowd. A single one has a processor to itself next to background embedding, even with two."""

PATIENCE_SECONDS = 1.0
"""Longest pause, so that background work cannot starve."""


class PromptPriority:
    """Counts the prompts under way; background work waits on it before each piece."""

    def __init__(self) -> None:
        self._prompt_count = 0
        self._clear = trio.Event()
        self._clear.set()
        self._quiet = trio.Event()
        self._quiet.set()

    @contextmanager
    def prompt(self) -> Iterator[None]:
        """One prompt, for as long as it is under way."""
        self._prompt_count += 1
        if self._prompt_count == 1:
            self._quiet = trio.Event()
        if self._prompt_count == CROWD:
            self._clear = trio.Event()
        try:
            yield
        finally:
            self._prompt_count -= 1
            if self._prompt_count < CROWD:
                self._clear.set()
            if not self._prompt_count:
                self._quiet.set()

    async def give_way(self) -> None:
        """Return once there is no crowd, or PATIENCE_SECONDS later."""
        with trio.move_on_after(PATIENCE_SECONDS):
            await self._clear.wait()

    async def wait_without_prompt(self) -> None:
        """Return once no prompt is under way, or PATIENCE_SECONDS later."""
        with trio.move_on_after(PATIENCE_SECONDS):
            await self._quiet.wait()


# Where heavy computing runs: off the event loop in the daemon, in place in a simulation.

T = TypeVar("T")


class Offload(Protocol):
    """Runs a function that would block the event loop for too long, in a thread unless a test replaces that."""

    async def __call__(self, compute: Callable[[], T], /) -> T: ...


def in_threads(count: int) -> Offload:
    """Compute in at most ``count`` worker threads. Cancellation: the caller goes on; the result is dropped."""
    limiter = trio.CapacityLimiter(count)

    async def offload(compute: Callable[[], T], /) -> T:
        return await trio.to_thread.run_sync(compute, limiter=limiter, abandon_on_cancel=True)

    return offload


# The number of files and sockets that this process may have open, and their shares.

WANTED = 4_096
RESERVED = 32
"""Descriptors kept for the database's log, the spool, the log, project folders and the pipes of agents."""
FEW = 64
"""With fewer descriptors, the daemon uses one reader of the database."""


def raise_limit() -> int:
    """Ask for as many descriptors as this process may have, up to ``WANTED``; returns how many it has."""
    soft, hard = (_finite(limit) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    if soft < min(hard, WANTED):
        soft = min(hard, WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return soft


def connections_for(limit: int, open_count: int) -> int:
    """How many connections may be open besides what is open now; if little is free, half of that."""
    free = limit - open_count
    return max(1, free - min(RESERVED, (free + 1) // 2))


def count_open() -> int:
    """Descriptors of this process that are open now."""
    return len(list(Path("/dev/fd").iterdir())) - 1  # the listing has one of its own


def _finite(limit: int) -> int:
    return WANTED if limit == resource.RLIM_INFINITY else limit
