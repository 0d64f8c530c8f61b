"""Opening the database's file, privately, and setting connections up.

WAL: readers never wait for the writer. FULL: an acknowledged commit survives a power cut, for one fsync a commit.
Deleted content is overwritten, and none of it goes into temporary files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import apsw

from kiro_learn.errors import StorageUnavailable

PRIVATE = 0o600
PAGES_BETWEEN_CHECKPOINTS = 1000
JOURNAL_BYTES = 16 * 1024 * 1024
"""What the write-ahead log is cut back to once a checkpoint has emptied it."""


def make_private(path: Path) -> None:
    """See that ``path`` is a file of the owner's alone, made if it is not there. SQLite gives its siblings its mode.

    Raises:
      StorageUnavailable: it is a symbolic link or no file, or cannot be made.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE))
    except FileExistsError:
        _refuse_what_is_no_file(path)
        for sibling in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            _close_to_others(sibling)
    except OSError as error:
        raise StorageUnavailable(path, hint=f"Is the folder there, and writable? {error.strerror}.") from error


def _refuse_what_is_no_file(path: Path) -> None:
    """Without opening it: a close would drop the locks of other connections of this process to it."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise StorageUnavailable(path, hint="It is a symbolic link: put the file itself there.")
    if not stat.S_ISREG(mode):
        raise StorageUnavailable(path, hint="It is not a file.")


def _close_to_others(path: Path) -> None:
    try:
        if stat.S_IMODE(path.lstat().st_mode) != PRIVATE and not path.is_symlink():
            path.chmod(PRIVATE)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageUnavailable(path, hint="It belongs to another user.") from error


def open_writer(path: Path, *, busy_seconds: float) -> apsw.Connection:
    """The one connection that writes. It has touched nothing yet: whether it may, the schema's history decides."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def settle(writer: apsw.Connection) -> None:
    """Set up what only a database of our schema may be asked. References: a migration may rebuild their tables."""
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS}")
    writer.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
    writer.execute("PRAGMA foreign_keys = ON")


def open_reader(path: Path, *, busy_seconds: float) -> apsw.Connection:
    """A connection that cannot write, with the schema read, so that the first prompt need not."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection
