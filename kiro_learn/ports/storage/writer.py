"""The port to the storage actor, for code that writes through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from kiro_learn.ports.storage.interface import Work

T = TypeVar("T")


class StorageWriter(Protocol):
    """Runs pieces of writing, one after the other, in whatever transactions it makes of them."""

    async def write(self, work: Work[T], *, then: Callable[[T], None] | None = None) -> T:
        """Run ``work`` in a transaction and answer what it returns, once that is durable.

        Cancellation: a work that was sent is committed all the same.

        Args:
          then: called with the answer once that is durable, also if the caller was cancelled meanwhile.

        Raises:
          ActorStopped: the daemon is going down.
          KiroLearnError: what ``work`` raised, undone; or StorageError.
        """
        ...
