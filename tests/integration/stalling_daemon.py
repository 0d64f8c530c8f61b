"""The daemon on a disk that stalls while the home has a file of a certain name.

``stalled-reads`` holds every read of the database's files inside SQLite, ``stalled-syncs`` every flush.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import apsw

from kiro_learn.app.command_line import main

HOME = Path(os.environ["KIRO_LEARN_HOME"])


def stand_still(what: str) -> None:
    while (HOME / what).exists():
        time.sleep(0.01)


class StallingFile(apsw.VFSFile):
    """A file on the stalling disk."""

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  # apsw's name
        stand_still("stalled-reads")
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  # apsw's name
        stand_still("stalled-syncs")
        super().xSync(flags)


class StallingVfs(apsw.VFS):
    """The stalling disk, for every connection of this process."""

    def __init__(self) -> None:
        super().__init__("stalling", base="unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # apsw's name
        return StallingFile("unix", name, flags)

    def xSleep(self, microseconds: int) -> int:  # noqa: N802  # apsw's name
        """Release the interpreter during a pause, as SQLite's own does; apsw's for a VFS in Python holds it."""
        time.sleep(microseconds / 1e6)
        return microseconds


if __name__ == "__main__":
    disk = StallingVfs()
    sys.exit(main())
