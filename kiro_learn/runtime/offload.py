"""Where heavy computing runs: off the event loop in the daemon, in place in a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import trio

T = TypeVar("T")


class Offload(Protocol):
    """Runs a function that would block the event loop for too long, in a thread unless a test replaces that."""

    async def __call__(self, compute: Callable[[], T], /) -> T: ...


async def in_place(compute: Callable[[], T], /) -> T:
    """Compute right here: simulated time must not jump while a thread works."""
    await trio.lowlevel.checkpoint()
    return compute()


def in_threads(count: int) -> Offload:
    """Compute in at most ``count`` worker threads. Cancellation: the caller goes on, the thread ends unseen."""
    limiter = trio.CapacityLimiter(count)

    async def offload(compute: Callable[[], T], /) -> T:
        return await trio.to_thread.run_sync(compute, limiter=limiter, abandon_on_cancel=True)

    return offload
