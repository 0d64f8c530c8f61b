"""Lets those who come together begin one after the other: side by side, each would be done as late as the last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import trio


@attrs.define(eq=False)
class Ticket:
    """One place in the line."""

    _lease_seconds: float
    _patience_seconds: float
    _before: Ticket | None
    _begun: trio.Event = attrs.Factory(trio.Event)
    _ended: trio.Event = attrs.Factory(trio.Event)
    _lease_end: float = 0.0

    async def begin(self) -> None:
        """Wait until the one before has ended, or has had its lease, or patience is at an end."""
        if self._before is not None:
            with trio.move_on_after(self._patience_seconds):
                await self._before.let_go()
        self._note_begun()

    async def let_go(self) -> None:
        """Wait until whoever comes next may begin."""
        await self._begun.wait()
        with trio.move_on_at(self._lease_end):
            await self._ended.wait()

    def end(self) -> None:
        """Also of one that never began, since it was cancelled before."""
        self._note_begun()
        self._ended.set()

    def _note_begun(self) -> None:
        if not self._begun.is_set():
            self._before = None  # else each would keep all that ever were before it
            self._lease_end = trio.current_time() + self._lease_seconds
            self._begun.set()


class AdmissionQueue:
    """The line. Nobody is kept waiting by one that may itself be waiting for something: a turn has a lease.

    Args:
      lease_seconds: from the beginning of a turn until the next one begins, if it has not ended before.
      patience_seconds: nobody waits for longer, however many came before.
    """

    def __init__(self, *, lease_seconds: float, patience_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._patience_seconds = patience_seconds
        self._last: Ticket | None = None

    @contextmanager
    def queued(self) -> Iterator[Ticket]:
        """A place at the end of the line; the turn ends with the block."""
        turn = self._last = Ticket(self._lease_seconds, self._patience_seconds, self._last)
        try:
            yield turn
        finally:
            turn.end()
