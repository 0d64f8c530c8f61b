"""Reads SQLite databases of other programs in place, even while those programs have them open.

No statement stays open between two values, since it would hold up the program that writes. Only the tables that a
reader names can be read: other tables of the same file hold credentials.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import apsw

from kiro_learn.adapters.histories.files import not_counted
from kiro_learn.ports.histories import HELD, Skipped

BUSY_SECONDS = 2.0
MOST_BYTES = 33_554_432
"""The most bytes of one value."""
MOST_COPIED_BYTES = 2_147_483_648
"""The most bytes of a locked database, which is copied to be read."""
MOST_STEPS = 200_000_000
"""The most steps of SQLite's virtual machine in one statement, some seconds: pages of a damaged file may loop."""
STEPS_BETWEEN_COUNTS = 1_000_000

DAMAGED = "databases that are damaged, or of an unknown shape"
TOO_LONG = "values too long to read"

_WAL_FORMAT = 2
_WAL_PLACE = 18
_TOO_LONG = b"\xff"
"""Stands for a value that is too long. It is no UTF-8, so that no text is the same."""

_ALLOWED = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE, apsw.SQLITE_TRANSACTION})
_SCHEMA = frozenset({"sqlite_master", "sqlite_schema"})

_NUMBER = re.compile(r"-?[0-9]{1,18}")

Row: TypeAlias = tuple[str | None, ...]


@contextmanager
def foreign_database(path: Path, tables: frozenset[str], skipped: Skipped = not_counted) -> Iterator[ForeignDatabase]:
    """Open the database at ``path`` for the length of the block. Only ``tables`` can be read."""
    with ExitStack() as stack:
        yield ForeignDatabase(path, tables, skipped, stack)


class ForeignDatabase:
    """Reads rows as texts: numbers become their digits, and bytes that are not UTF-8 are replaced.

    No statement raises: values and rows that cannot be read are left out and counted.
    """

    def __init__(self, path: Path, tables: frozenset[str], skipped: Skipped, stack: ExitStack) -> None:
        """``stack``: closes the connection and removes a copy when it ends."""
        self._path = path
        self._tables = tables
        self._skipped = skipped
        self._stack = stack
        self._connection: apsw.Connection | None = None
        self._is_copy = False
        self._steps = 0

    def all(self, columns: Sequence[str], rest: str, *values: str | int) -> list[Row]:
        """The rows of ``SELECT columns rest``. All are in memory at once, so ask for keys rather than content."""
        selected = ", ".join(
            f"iif(octet_length({column}) > {MOST_BYTES}, x'ff', CAST({column} AS BLOB))" for column in columns
        )
        rows = self._fetched(f"SELECT {selected} {rest}", values)  # all are constants of our readers
        return [tuple(self._text(value) for value in row) for row in rows]

    def one(self, columns: Sequence[str], rest: str, *values: str | int) -> Row | None:
        """The first row of ``all``; None if there is none."""
        return next(iter(self.all(columns, f"{rest} LIMIT 1", *values)), None)

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; empty if there is no such table."""
        return frozenset(str(row[1]) for row in self._fetched(f"PRAGMA table_info({table})", ()))

    def _text(self, value: object) -> str | None:
        if value == _TOO_LONG:
            self._skipped(TOO_LONG)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) and value != _TOO_LONG else None

    def _fetched(self, statement: str, values: Sequence[str | int]) -> list[tuple[object, ...]]:
        try:
            try:
                return self._run(statement, values)
            except (apsw.BusyError, apsw.LockedError, apsw.CantOpenError):
                self._read_a_copy()
                return self._run(statement, values)
        except (apsw.BusyError, apsw.LockedError):
            self._skipped(HELD)
            return []
        except (apsw.Error, UnicodeDecodeError, OSError):
            self._skipped(DAMAGED)
            return []

    def _run(self, statement: str, values: Sequence[str | int]) -> list[tuple[object, ...]]:
        if self._connection is None:
            self._connection = self._stack.enter_context(closing(self._opened()))
        self._steps = 0
        return list(self._connection.execute(statement, values))

    def _read_a_copy(self) -> None:
        """Copy the file with its log, and read the copy. A file over MOST_COPIED_BYTES is not copied."""
        if self._is_copy or self._path.stat().st_size > MOST_COPIED_BYTES:
            return
        self._is_copy = True
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="kiro-learn-"))
        copy = Path(folder) / "copy.db"
        for ending in ("", "-wal", "-journal"):
            source = Path(f"{self._path}{ending}")
            if source.exists():
                shutil.copyfile(source, f"{copy}{ending}")
        self._path, self._connection = copy, None

    def _opened(self) -> apsw.Connection:
        options = "mode=ro&immutable=1" if _lies_still(self._path) else "mode=ro"
        flags = apsw.SQLITE_OPEN_READONLY
        if self._is_copy:  # writable, since SQLite may have to roll it back first
            options, flags = "mode=rw", apsw.SQLITE_OPEN_READWRITE
        address = f"file:{quote(str(self._path.absolute()))}?{options}"
        connection = apsw.Connection(address, flags=flags | apsw.SQLITE_OPEN_URI)
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))
        connection.set_progress_handler(self._is_endless, STEPS_BETWEEN_COUNTS)
        connection.set_authorizer(self._may)
        return connection

    def _is_endless(self) -> bool:
        self._steps += STEPS_BETWEEN_COUNTS
        return self._steps > MOST_STEPS

    def _may(self, action: int, table: str | None, name: str | None, _database: str | None, _view: str | None) -> int:
        is_read = action == apsw.SQLITE_READ and table is not None and table in self._tables | _SCHEMA
        is_question = action == apsw.SQLITE_PRAGMA and table == "table_info" and name in self._tables
        return apsw.SQLITE_OK if action in _ALLOWED or is_read or is_question else apsw.SQLITE_DENY


def _lies_still(path: Path) -> bool:
    """Whether no program has the database in WAL mode open. To read it, SQLite would create a log and leave it."""
    try:
        with path.open("rb") as file:
            head = file.read(_WAL_PLACE + 1)
    except OSError:
        return False
    return head[_WAL_PLACE:] == bytes((_WAL_FORMAT,)) and not Path(f"{path}-wal").exists()


def number(text: str | None) -> int:
    """The whole number in a text that ``ForeignDatabase`` read; 0 if it is none."""
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0
