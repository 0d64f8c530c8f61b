"""The daemon on a disk that can be made to stand still: while a file of that name lies in the home.

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
    """A file on that disk."""

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  # apsw's name
        stand_still("stalled-reads")
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  # apsw's name
        stand_still("stalled-syncs")
        super().xSync(flags)


class StallingVfs(apsw.VFS):
    """That disk, for every connection of this process."""

    def __init__(self) -> None:
        super().__init__("stalling", base="unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # apsw's name
        return StallingFile("unix", name, flags)

    def xSleep(self, microseconds: int) -> int:  # noqa: N802  # apsw's name
        """SQLite's own pauses let go of the interpreter. apsw's, for a disk in Python, hold it all the while."""
        time.sleep(microseconds / 1e6)
        return microseconds


if __name__ == "__main__":
    disk = StallingVfs()
    sys.exit(main())
