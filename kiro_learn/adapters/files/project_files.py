"""Looks whether files of a project are still there, in threads that may be left behind."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import PurePosixPath

import attrs
import trio

THREADS = 2
"""Left to file systems that do not answer, at most; until one does, nothing is looked at."""

_NO_PLAIN_NAME = frozenset('*?"<>|{}:\0')
"""What a path that a learner took from a text may hold, and a file's name hardly does."""


@attrs.frozen
class FolderFiles:
    """A ``ProjectFiles`` on the file system."""

    _limiter: trio.CapacityLimiter = attrs.Factory(lambda: trio.CapacityLimiter(THREADS))

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        wanted = tuple(paths)
        return await trio.to_thread.run_sync(
            lambda: look(folder, wanted), limiter=self._limiter, abandon_on_cancel=True
        )


def look(folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
    """As ``ProjectFiles.modified_ats``, in this thread."""
    if not folder.startswith("/") or "\0" in folder or not os.path.isdir(folder):  # noqa: PTH112  # half the time
        return {}
    is_folder: dict[PurePosixPath, bool | None] = {}
    found: dict[str, datetime | None] = {}
    for path in paths:
        inside = _inside(folder, path)
        if inside is not None:
            state = _state(folder, inside, is_folder)
            if not isinstance(state, Unknown):
                found[path] = state
    return found


@attrs.frozen
class Unknown:
    """Whether a file is there cannot be found out."""


def _inside(folder: str, path: str) -> PurePosixPath | None:
    """``path`` relative to ``folder``, if it names something in it and is a plain name."""
    pure = PurePosixPath(path)
    if pure.is_absolute():
        if not pure.is_relative_to(folder):
            return None
        pure = pure.relative_to(folder)
    if not pure.parts or ".." in pure.parts or pure.parts[0].startswith("~") or not _NO_PLAIN_NAME.isdisjoint(path):
        return None
    return pure


def _state(
    folder: str, inside: PurePosixPath, is_folder: dict[PurePosixPath, bool | None]
) -> datetime | Unknown | None:
    """Each folder on the way is looked at first, once for all files, so that no link is followed."""
    for parent in reversed(inside.parents[:-1]):
        if parent not in is_folder:
            mode = _lstat(folder, parent)
            is_folder[parent] = None if mode is None else not isinstance(mode, Unknown) and stat.S_ISDIR(mode.st_mode)
        if is_folder[parent] is None:
            return None
        if not is_folder[parent]:
            return Unknown()
    found = _lstat(folder, inside)
    if found is None or isinstance(found, Unknown):
        return found
    if not stat.S_ISREG(found.st_mode):
        return Unknown()
    try:
        return datetime.fromtimestamp(found.st_mtime, UTC)
    except (OverflowError, ValueError, OSError):
        return Unknown()


def _lstat(folder: str, inside: PurePosixPath) -> os.stat_result | Unknown | None:
    """None: it is not there."""
    try:
        return os.lstat(f"{folder}/{inside}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return Unknown()
