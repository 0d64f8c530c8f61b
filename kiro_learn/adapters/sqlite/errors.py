"""Maps apsw's exceptions to ours, with the cause kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import structlog

from kiro_learn.adapters.sqlite.migrations.todays_schema import missing_tables
from kiro_learn.errors import (
    KiroLearnError,
    StorageBusy,
    StorageCorrupt,
    StorageError,
    StorageUnavailable,
    UnexpectedError,
)

log = structlog.get_logger()

BUSY = (apsw.BusyError, apsw.LockedError)
CORRUPT = (apsw.CorruptError, apsw.NotADBError)
UNAVAILABLE: dict[type[apsw.Error], str] = {
    apsw.CantOpenError: "cannot be opened",
    apsw.ReadOnlyError: "cannot be written",
    apsw.PermissionsError: "cannot be read or written",
    apsw.IOError: "cannot be read or written",
    apsw.ConnectionClosedError: "was closed",
}
SOUND_COPY = "kiro-learn doctor      names the commands that put a sound copy in its place"

REFUSED_ROW = (apsw.ConstraintError, apsw.TooBigError, apsw.MismatchError, UnicodeEncodeError, OverflowError)
"""It is this row, not the store: other rows may be written."""


class one_work_named:  # noqa: N801  # reads as a function; ``except Exception`` is for the supervisor alone
    """Raise what is wrong with one piece of writing as ours, so that it costs no other; what ails the store passes.

    A row that SQLite will not have is a StorageError. What no code of ours foresaw is an UnexpectedError, and is logged
    with its place.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, REFUSED_ROW):
            raise StorageError(f"the store refuses a row ({type(error).__name__})") from error
        if isinstance(error, Exception) and not isinstance(error, KiroLearnError | apsw.Error | UnicodeDecodeError):
            log.warning("storage.write_failed", error=type(error).__name__, exc_info=error)
            raise UnexpectedError(error, what="a write") from error


def insist_on_tables(path: Path, connection: apsw.Connection) -> None:
    """Raises StorageCorrupt: the database, which has today's schema, has lost a table."""
    if missing := missing_tables(connection):
        raise StorageCorrupt(f"the database {path} is damaged: it lacks the table {missing[0]}", hint=SOUND_COPY)


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
            hint=SOUND_COPY,
        ) from error
    except UnicodeDecodeError as error:
        raise StorageCorrupt(
            f"the database {path} is damaged: a text in it is not UTF-8",
            hint=SOUND_COPY,
        ) from error
    except tuple(UNAVAILABLE) as error:
        problem = next(said for kind, said in UNAVAILABLE.items() if isinstance(error, kind))
        raise StorageUnavailable(path, problem=problem, hint=f"SQLite says: {error}.") from error
    except apsw.FullError as error:
        raise StorageError(f"there is no room for the database {path}", hint="Free some disk space.") from error
    except apsw.Error as error:
        # SQLite's own words may quote what was looked for.
        raise StorageError(f"the database {path} failed ({type(error).__name__})") from error
