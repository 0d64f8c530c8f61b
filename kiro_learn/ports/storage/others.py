"""What a store tells of other daemons that write to it too, and how they take turns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from kiro_learn.ports.storage.answers import Change


class OtherDaemons(Protocol):
    """The other daemons on the same store. A store in a file has none."""

    async def follow_others(self) -> Sequence[Change]:
        """What others committed since this was asked last, in the order of their commits.

        It waits until there is something, but no longer than half a minute. Where there is only one daemon, for ever.

        Raises:
          StorageUnavailable: the server is away.
          StorageError: this daemon was cut off for so long that what others did is no longer known.
        """
        ...

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Have the turn to do ``name`` for the length of the block, which no other daemon has then.

        Gives False where another one has it. The turn ends with the daemon, or when it is cut off, and another may do
        the same then while it goes on: what must happen once is checked where it is committed.
        """
        ...
