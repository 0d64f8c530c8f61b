"""Who is connected, and who has to go for a newcomer.

Any program on this machine may connect, and each connection costs a descriptor. So there are only so many places. When
they are taken, a newcomer gets that of whoever has been there for longest without a whole request, then without the
token, else that of the client that is idle for longest. Where all are at work, the newcomer waits, and those behind it
in the system's queue.
"""

from __future__ import annotations

from typing import Protocol

import trio

GRACE_PASSES = 24
"""Of the event loop, from a newcomer to the one that takes its place: the head of a request that was sent at once is
read by then. In seconds, it would let fewer in than a program can open where there are few places."""


class Guest(Protocol):
    """One connection."""

    came_at: float
    """By trio's clock."""

    @property
    def is_known(self) -> bool:
        """Whether a request of it bore the token."""
        ...

    @property
    def idle_since(self) -> float | None:
        """Since when it has no request under way; None if it has one."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether nothing came from it yet."""
        ...

    def hang_up(self) -> None:
        """Close its socket at once."""
        ...


class Places:
    """So many connections at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guests: dict[Guest, None] = {}
        self._changed = trio.Event()

    def enter(self, guest: Guest) -> None:
        """Count ``guest``; ``make_room`` was awaited before."""
        self._guests[guest] = None

    def leave(self, guest: Guest) -> None:
        """It is gone, or told to go."""
        self._guests.pop(guest, None)
        self.changed()

    def changed(self) -> None:
        """A guest is idle or known now, or has left."""
        self._changed.set()

    def hang_up_on_silent(self) -> None:
        """No request of theirs is to be waited for any more."""
        for guest in [each for each in self._guests if each.is_silent]:
            guest.hang_up()

    async def make_room(self) -> None:
        """Wait until one more may come; hang up on who can best be spared."""
        while len(self._guests) >= self._most:
            for _ in range(GRACE_PASSES // self._most):
                await trio.lowlevel.checkpoint()
            guest = min(self._guests, key=_worth)
            if _worth(guest)[0] == _AT_WORK:
                self._changed = trio.Event()
                await self._changed.wait()
            elif len(self._guests) >= self._most:
                self.leave(guest)
                guest.hang_up()


_WITHOUT_REQUEST, _UNKNOWN, _IDLE, _AT_WORK = range(4)


def _worth(guest: Guest) -> tuple[int, float]:
    """Who is least goes first."""
    if not guest.is_known:
        return (_UNKNOWN if guest.idle_since is None else _WITHOUT_REQUEST), guest.came_at
    return (_AT_WORK, guest.came_at) if guest.idle_since is None else (_IDLE, guest.idle_since)


class Door(trio.abc.Listener[trio.SocketStream]):
    """A listener that lets in no more than there are places for."""

    def __init__(self, listener: trio.SocketListener, places: Places) -> None:
        self._listener = listener
        self._places = places

    async def accept(self) -> trio.SocketStream:
        stream = await self._listener.accept()
        try:
            await self._places.make_room()
        except trio.Cancelled:
            stream.socket.close()
            raise
        return stream

    async def aclose(self) -> None:
        await self._listener.aclose()
