"""A folder of Markdown files on the disk. Each file is reached through its folder, so that no link leads out of it.

A folder is opened first, and then the file relative to it, never by the whole path. So nobody can lead a write
elsewhere by a link that replaces a folder in between.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

INDEX = ".kiro-learn.jsonl"
SUFFIX = ".md"
MOST_INDEX_BYTES = 1_000_000_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_PARTS = 2


class DiskNotes:
    """``NotesFolder`` at ``path``. The first write makes the folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def index(self) -> bytes | None:
        try:
            with _opened(self._path) as root:
                return _read(root, INDEX, MOST_INDEX_BYTES)
        except FileNotFoundError:
            return None

    def write_index(self, content: bytes) -> None:
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.sync()  # once for all files: one by one costs a second per thousand
        with _opened(self._path) as root:
            _write(root, INDEX, content, is_kept=True)

    def is_empty(self) -> bool:
        try:
            with os.scandir(self._path) as entries:
                return next(entries, None) is None
        except FileNotFoundError:
            return True

    def paths(self) -> Iterator[str]:
        for name, is_folder in sorted(_entries(self._path)):
            if not is_folder:
                yield from (each for each in (name,) if each.endswith(SUFFIX))
                continue
            found = sorted(each for each, is_inner in _entries(self._path / name) if not is_inner)
            yield from (f"{name}/{each}" for each in found if each.endswith(SUFFIX))

    def read(self, path: str, *, most_bytes: int) -> bytes | None:
        folder, name = _parts(path)
        try:
            with _opened(self._path) as root, _opened(folder, within=root) as parent:
                return _read(parent, name, most_bytes)
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        folder, name = _parts(path)
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(self._path) as root:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, mode=0o700, dir_fd=root)
            with _opened(folder, within=root) as parent:
                _write(parent, name, content)

    def remove(self, path: str) -> None:
        folder, name = _parts(path)
        with contextlib.suppress(FileNotFoundError), _opened(self._path) as root:
            with _opened(folder, within=root) as parent:
                os.unlink(name, dir_fd=parent)
            try:
                os.rmdir(folder, dir_fd=root)
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise


def _parts(path: str) -> list[str]:
    """The folder and the name in ``path``. Raises OSError: it is not the path of a file in a project's folder."""
    parts = path.split("/")
    if len(parts) != _PARTS or any(not part or part.startswith(".") or "\0" in part for part in parts):
        raise OSError(errno.EINVAL, "is in no project's folder", path)
    return parts


@contextlib.contextmanager
def _opened(path: Path | str, *, within: int | None = None) -> Iterator[int]:
    try:
        descriptor = os.open(path, _FOLDER, dir_fd=within)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and stat.S_ISLNK(os.lstat(path, dir_fd=within).st_mode):
            raise OSError(errno.ELOOP, "is a symbolic link; name the folder it points to", str(path)) from error
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _entries(folder: Path) -> Iterator[tuple[str, bool]]:
    """The names in ``folder`` that are not hidden, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    yield entry.name, entry.is_dir(follow_symlinks=False)
    except FileNotFoundError:
        return


def _read(folder: int, name: str, most_bytes: int) -> bytes:
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a symbolic link", name) from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "is no file", name)
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"is longer than {most_bytes:,} bytes", name)
    return content


def _write(folder: int, name: str, content: bytes, *, is_kept: bool = False) -> None:
    beside = f".{blake2b(name.encode(), digest_size=8).hexdigest()}.kiro-learn"
    with contextlib.suppress(FileNotFoundError):  # a killed process may have left it
        os.unlink(beside, dir_fd=folder)
    with contextlib.ExitStack() as on_failure:
        with os.fdopen(os.open(beside, _NEW, 0o600, dir_fd=folder), "wb") as file:
            on_failure.callback(os.unlink, beside, dir_fd=folder)
            file.write(content)
            if is_kept:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        on_failure.pop_all()
