"""All that a store keeps: read from one state of it, and put into another store."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from kiro_learn.model.stored import Restored, Stored


class StoreReading(Protocol):
    """One state of the store, read from its beginning to its end. Close it in the end."""

    async def next_page(self) -> list[Stored]:
        """The next pieces, by the order of ``KINDS``; as many as are light to hold, and none at the end.

        Rows that cannot be read are left out.
        """
        ...

    @property
    def damaged_count(self) -> int:
        """How many were left out so far."""
        ...

    async def close(self) -> None:
        """Let go of that state. A second close does nothing."""
        ...


class ExportReads(Protocol):
    """Reads of all that is kept."""

    async def open_reading(self, kinds: Collection[str]) -> StoreReading:
        """Read what is kept of ``kinds`` right now, whatever is written meanwhile."""
        ...


class RestoreWrites(Protocol):
    """Taking back what another store kept."""

    def restore(self, piece: Stored) -> Restored:
        """Keep ``piece`` as it was, with its ids and times, unless its id is known.

        A memory has no vector then, and waits for one.

        Raises:
          StorageError: it cannot be kept, because of what it refers to, or of a name that another piece has.
        """
        ...
