"""Maps apsw's exceptions to ours, with the cause kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from kiro_learn.errors import StorageBusy, StorageCorrupt, StorageError, StorageUnavailable

BUSY = (apsw.BusyError, apsw.LockedError)
CORRUPT = (apsw.CorruptError, apsw.NotADBError)
UNAVAILABLE = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError, apsw.ConnectionClosedError)
REFUSED_ROW = (apsw.ConstraintError, apsw.TooBigError, apsw.MismatchError, UnicodeEncodeError, OverflowError)
"""It is this row, not the store: other rows may be written."""


@contextmanager
def refused_rows_named() -> Iterator[None]:
    """Raise a row that SQLite will not have as StorageError; what ails the store itself goes through."""
    try:
        yield
    except REFUSED_ROW as error:
        raise StorageError(f"the store refuses a row ({type(error).__name__})") from error


@contextmanager
def map_errors(path: Path) -> Iterator[None]:
    """Raise apsw's exceptions as ours."""
    try:
        yield
    except BUSY as error:
        raise StorageBusy(f"another process holds the lock of {path}", hint="Is a second daemon running?") from error
    except CORRUPT as error:
        raise StorageCorrupt(
            f"the database {path} is damaged: {error}",
            hint="kiro-learn doctor      names the commands that put a sound copy in its place",
        ) from error
    except UnicodeDecodeError as error:
        raise StorageCorrupt(
            f"the database {path} is damaged: a text in it is not UTF-8",
            hint="kiro-learn doctor      names the commands that put a sound copy in its place",
        ) from error
    except UNAVAILABLE as error:
        raise StorageUnavailable(path, hint=f"SQLite says: {error}.") from error
    except apsw.FullError as error:
        raise StorageError(f"there is no room for the database {path}", hint="Free some disk space.") from error
    except apsw.Error as error:
        # SQLite's own words may quote what was looked for.
        raise StorageError(f"the database {path} failed ({type(error).__name__})") from error
