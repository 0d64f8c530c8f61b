"""Locks that end with their holder, however it ends."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def take(descriptor: int) -> bool:
    """Lock the whole file for as long as ``descriptor`` is open; False if another process has it.

    On Linux it is a lock of the open file (F_OFD_SETLK): it excludes a second opening even in this process, and the
    shim can test it without taking it and without importing fcntl, which flock would not allow.
    """
    try:
        if sys.platform == "linux":
            whole_file = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, whole_file)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def held_by_us(folder: Path) -> Iterator[None]:
    """Hold the exclusive lock of ``folder`` for the length of the block; blocks last a few milliseconds."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
