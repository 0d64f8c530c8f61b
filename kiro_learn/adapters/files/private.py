"""Writes files and folders that only their owner can read, and locks them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import secrets
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MOST_NAME = 200
"""The most characters that are kept of a name before a suffix is added: a whole name may have 255 bytes."""

_PUT_ASIDE = ".put-aside"
_HALF_MOVED = re.compile(r"\.kiro-learn\.db\.moving(?:-journal)?")
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{16}|spool\.key\.[0-9a-f]{16}|.+\.pyc\.[0-9]+")
_ABANDONED_SECONDS = 60.0
"""The age from which on an unfinished file is abandoned. Writing one takes milliseconds."""


def make_folder(path: Path) -> None:
    """Make ``path`` if it is missing, and take away the rights of others.

    Raises:
      OSError: ``path`` is a symbolic link, is no folder, or belongs to another user; or the system refused.
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
    """Take away all rights of group and others below ``root``, without following links.

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
    with replacing(path, mode=mode) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file that replaces ``path`` when the block ends without an error; else it is removed.

    Raises:
      OSError: with ``path`` as its ``filename``, also where there is no room.
    """
    beside = path.with_name(f".{path.name[:MOST_NAME]}.{secrets.token_hex(8)}")
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(beside.unlink, missing_ok=True)
        with _named(path), os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _named(path):
            beside.replace(path)
        on_failure.pop_all()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


@contextlib.contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A new file that only the owner may read. It exists once the block has ended without an error.

    Raises:
      OSError: ``path`` is a link, or exists and ``force`` is False; or the system refused.
    """
    _refuse_what_is_there(path, force=force)
    with replacing(path) as file:
        yield file
        _refuse_what_is_there(path, force=force)


def _refuse_what_is_there(path: Path, *, force: bool) -> None:
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link; name what it points to", str(path))
    if os.path.lexists(path) and not force:
        raise FileExistsError(errno.EEXIST, "is there already", str(path))


def remove_leftovers(folder: Path) -> None:
    """Remove old unfinished files of ``write``, of the spool's key and of Python's bytecode.

    A half-moved database is removed too: memories that are forgotten from now on would stay in it.

    Raises:
      OSError: a file cannot be removed.
    """
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # the writer has renamed it since
            is_old = time.time() - path.lstat().st_mtime > _ABANDONED_SECONDS
            if (_LEFTOVER.fullmatch(path.name) and is_old) or _HALF_MOVED.fullmatch(path.name):
                path.unlink()


def put_aside(path: Path) -> Path:
    """Rename ``path``, which we cannot use; returns the new path. This needs no rights to the file itself.

    Raises:
      OSError: the folder cannot be written.
    """
    suffixes = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    paths = (path.with_name(f"{path.name}{_PUT_ASIDE}{suffix}") for suffix in suffixes)
    aside = next(each for each in paths if not os.path.lexists(each))
    path.rename(aside)
    return aside


def put_aside_of(path: Path) -> list[Path]:
    """The files and folders that ``put_aside`` renamed and that were called ``path``."""
    return sorted(path.parent.glob(f"{path.name}{_PUT_ASIDE}*"))


def read_text(path: Path) -> str:
    """The file's text; empty if there is no such file."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return ""


# Locks that end with the process that holds them, even if it is killed.


def take(descriptor: int) -> bool:
    """Lock the whole file for as long as ``descriptor`` is open; False if another process has it.

    On Linux the lock belongs to the open file (F_OFD_SETLK). It excludes a second opening even in this process. Unlike
    flock, it lets the shim test the lock without taking it and without importing fcntl.
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
    """Hold the exclusive lock of ``folder`` for the length of the block. Others wait, so a block must be short."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
