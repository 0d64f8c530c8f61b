"""The port that makes and removes the home folder."""

from __future__ import annotations

from typing import Protocol


class HomeFolder(Protocol):
    """One user's folder of kiro_learn."""

    def prepare(self) -> None:
        """Make it and what is needed in it, the hook's program among that; nothing changes where it is there already.

        Raises:
          ConfigError: it cannot be made.
        """
        ...

    def contents(self) -> tuple[tuple[str, int], ...]:
        """What of ours is in it, by name, with the bytes that it takes; nothing if there is no home."""
        ...

    def remove(self) -> tuple[str, ...]:
        """Remove what of ours is in it, and then the folder, if it is empty; the names of what stayed.

        Raises:
          AlreadyRunning: a daemon uses it.
          ConfigError: something could not be removed.
        """
        ...
