"""Names rows that cannot be read, and raises apsw's exceptions as ours."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import apsw
import structlog

from kiro_learn.adapters.sqlite.migrations.todays_schema import missing_tables
from kiro_learn.errors import (
    InvalidRequest,
    KiroLearnError,
    StorageBusy,
    StorageCorrupt,
    StorageError,
    StorageUnavailable,
    UnexpectedError,
)


class DamagedRow(StorageCorrupt):
    """One row cannot be read; others can."""

    def __init__(self, row_id: str, problem: str) -> None:
        super().__init__(f"the row of {row_id} cannot be read: {problem}")
        self.row_id = row_id


class damage_named:  # noqa: N801  # reads as a function; a generator is too slow for hundreds of rows a prompt
    """Raise an error of the block as DamagedRow, without its message, which might quote stored text."""

    __slots__ = ("_row_id",)

    def __init__(self, row_id: object) -> None:
        self._row_id = row_id

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, ValueError | KeyError | TypeError | InvalidRequest):
            row_id = self._row_id
            name = row_id.decode("utf-8", "backslashreplace") if isinstance(row_id, bytes) else str(row_id)
            raise DamagedRow(name, type(error).__name__) from error


# Rows that cannot be read: each is left out, and noted by its id.
#
# SQLite gives no value of a row with text that is not UTF-8, not even its id. So queries ask for text as bytes where a
# damaged row is to be named. Where there are too many rows for that, such a row is left out and only logged.

log = structlog.get_logger()

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]

MOST_NAMED = 1_000
"""The most rows that are remembered, so that a ruined database does not fill the memory."""


class DamagedRows:
    """The damaged rows that were read so far. All reading connections share it."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._lock = threading.Lock()

    def note(self, row_id: str) -> bool:
        """Remember the row; True for the first time."""
        with self._lock:
            is_new = row_id not in self._ids and len(self._ids) < MOST_NAMED
            if is_new:
                self._ids[row_id] = None
        return is_new

    def remove(self, row_ids: Iterable[str]) -> None:
        """Forget the damage of rows that were removed."""
        with self._lock:
            for row_id in row_ids:
                self._ids.pop(row_id, None)

    def ids(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._ids)

    def readable(self, rows: Iterable[Row], to_value: Callable[[Row], T]) -> Iterator[T | DamagedRow]:
        """Each row's value; for a row that cannot be read, the error, which is noted."""
        for row in rows:
            try:
                yield to_value(row)
            except DamagedRow as error:
                if self.note(error.row_id):
                    log.warning("storage.row_damaged", row_id=error.row_id)
                yield error

    def only_readable(self, rows: Iterable[Row], to_value: Callable[[Row], T]) -> Iterator[T]:
        """Each row's value; unreadable rows are noted and left out."""
        return (value for value in self.readable(rows, to_value) if not isinstance(value, DamagedRow))


def decodable(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows whose texts are UTF-8."""
    iterator = iter(rows)
    while True:
        try:
            yield next(iterator)
        except StopIteration:
            return
        except UnicodeDecodeError:
            log.warning("storage.row_undecodable")


def parted(values: Iterable[T | DamagedRow]) -> tuple[tuple[T, ...], tuple[str, ...]]:
    """The values, and the ids of the damaged rows."""
    found = list(values)
    readable = tuple(value for value in found if not isinstance(value, DamagedRow))
    return readable, tuple(value.row_id for value in found if isinstance(value, DamagedRow))


# Maps apsw's exceptions to ours, with the cause kept.

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
"""The errors that concern one row: other rows may still be written."""


class one_work_named:  # noqa: N801  # reads as a function; ``except Exception`` is for the supervisor alone
    """Raise an error of one piece of writing as ours, so that other pieces go on; errors of the whole store pass.

    A row that SQLite refuses is a StorageError. An exception that no code of ours expects is an UnexpectedError, and is
    logged with its place.
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
        raise StorageCorrupt(f"the database {path} is damaged: {error}", hint=SOUND_COPY) from error
    except UnicodeDecodeError as error:
        raise StorageCorrupt(f"the database {path} is damaged: a text in it is not UTF-8", hint=SOUND_COPY) from error
    except tuple(UNAVAILABLE) as error:
        problem = next(said for kind, said in UNAVAILABLE.items() if isinstance(error, kind))
        raise StorageUnavailable(path, problem=problem, hint=f"SQLite says: {error}.") from error
    except apsw.FullError as error:
        raise StorageError(f"there is no room for the database {path}", hint="Free some disk space.") from error
    except apsw.Error as error:
        # SQLite's message may quote stored or searched text.
        raise StorageError(f"the database {path} failed ({type(error).__name__})") from error
