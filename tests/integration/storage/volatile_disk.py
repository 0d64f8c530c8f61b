"""A disk that can lose its power, and then loses the writes that SQLite had not synced.

It is a VFS of SQLite on top of the usual one. The files hold every write, like the system's cache. Apart from them it
keeps the state that would be left of each file.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

SECTOR = 512
"""The bytes that a disk writes at once, all or none of them."""


class Write(NamedTuple):
    """A write that is not synced yet. Without data, it cut the file to ``offset``."""

    offset: int
    data: bytes | None


class VolatileDisk:
    """The content of files on the platter, and the writes in the cache, by path."""

    def __init__(self, folder: Path) -> None:
        """The files in ``folder`` are on the platter. They are read before SQLite's, since a close drops its locks."""
        self.synced = Counter[str]()
        """How often each file was synced."""
        self.before_sync: Callable[[], None] = lambda: None
        self._lasting = {str(path): bytearray(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
        self._cached: defaultdict[str, list[Write]] = defaultdict(list)
        self._lock = threading.RLock()

    def written(self, path: str, write: Write) -> None:
        with self._lock:
            self._cached[path].append(write)

    def sync(self, path: str) -> None:
        with self._lock:
            self.before_sync()
            file = self._lasting.setdefault(path, bytearray())
            for write in self._cached.pop(path, []):
                _apply(file, write)
            self.synced[path] += 1

    def deleted(self, path: str) -> None:
        with self._lock:
            self._lasting.pop(path, None)
            self._cached.pop(path, None)

    def left_without_power(self, dice: Random | None = None) -> dict[str, bytes]:
        """The rest of each file: all synced writes, and of others nothing, or the sectors that ``dice`` choose."""
        with self._lock:
            left = {path: bytearray(content) for path, content in self._lasting.items()}
            if dice is not None:
                for path, writes in self._cached.items():
                    file = left.setdefault(path, bytearray())
                    for write in _sectors(writes):
                        if dice.random() < 1 / 2:
                            _apply(file, write)
            return {path: bytes(content) for path, content in left.items()}


def _sectors(writes: list[Write]) -> Iterator[Write]:
    for offset, data in writes:
        if data is None:
            yield Write(offset, None)
            continue
        for start in range(0, len(data), SECTOR):
            yield Write(offset + start, data[start : start + SECTOR])


def _apply(file: bytearray, write: Write) -> None:
    if write.data is None:
        del file[write.offset :]
        return
    end = write.offset + len(write.data)
    file.extend(bytes(max(0, end - len(file))))
    file[write.offset : end] = write.data


class _File(apsw.VFSFile):
    def __init__(self, disk: VolatileDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        self._path = "" if name is None else name if isinstance(name, str) else name.filename()
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802  # SQLite's name
        super().xWrite(data, offset)
        self._disk.written(self._path, Write(offset, bytes(data)))

    def xLock(self, level: int) -> None:  # noqa: N802  # SQLite's name
        """Lock the file. A reader that closes asks for a lock that it cannot get: SQLite ignores it, apsw does not."""
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("a file that is only read cannot be locked for writing") from error

    def xTruncate(self, newsize: int) -> None:  # noqa: N802  # SQLite's name
        super().xTruncate(newsize)
        self._disk.written(self._path, Write(newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        super().xSync(flags)
        self._disk.sync(self._path)


class _Vfs(apsw.VFS):
    def __init__(self, disk: VolatileDisk) -> None:
        self._disk = disk
        super().__init__("volatile", "unix")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # SQLite's name
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's name
        super().xDelete(filename, syncdir)
        self._disk.deleted(filename)


@contextmanager
def volatile_disk(folder: Path) -> Iterator[VolatileDisk]:
    """Have every connection that is opened in the block use such a disk, with the files in ``folder``."""
    disk = VolatileDisk(folder)
    usual = apsw.vfs_names()[0]
    vfs = _Vfs(disk)
    apsw.set_default_vfs("volatile")
    try:
        yield disk
    finally:
        apsw.set_default_vfs(usual)
        vfs.unregister()


def put_back(left: Mapping[str, bytes], path: Path, into: Path) -> Path:
    """Write the rest of the database at ``path`` and its journals into the folder ``into``; returns its path there."""
    into.mkdir(exist_ok=True)
    for suffix in ("", "-wal", "-journal"):
        target = into / f"{path.name}{suffix}"
        target.unlink(missing_ok=True)
        if f"{path}{suffix}" in left:
            target.write_bytes(left[f"{path}{suffix}"])
    (into / f"{path.name}-shm").unlink(missing_ok=True)
    return into / path.name
