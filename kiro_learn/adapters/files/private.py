"""Files and folders that only their owner can read."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


def make_folder(path: Path) -> None:
    """Make ``path`` if need be, and close it to others.

    Raises:
      OSError: it is a symbolic link, no folder, or belongs to another user; or the system refused.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, "is no folder; move it away", str(path)) from error
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "is a symbolic link; name the folder it points to", str(path))
    if found.st_uid != os.geteuid():
        raise OSError(errno.EPERM, f"belongs to the user with the number {found.st_uid}, not to you", str(path))
    path.chmod(0o700)


def close_to_others(root: Path) -> None:
    """Take from group and others every right on what lies below ``root``; links are not followed.

    Files may come and go meanwhile: hooks write to the spool at any moment.
    """
    for path in _below(root):
        with contextlib.suppress(FileNotFoundError):
            found = path.lstat()
            if found.st_mode & 0o077 and not stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid():
                path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *files))


def write(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write ``content`` to ``path`` atomically: a reader sees all of the old or all of the new.

    Raises:
      OSError: with ``path`` as its ``filename``, also where there is no room.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        error.filename = str(path)
        raise


def read_text(path: Path) -> str:
    """The file's text; empty if there is no such file."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return ""
