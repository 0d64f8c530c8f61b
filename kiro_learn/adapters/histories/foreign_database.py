"""Reads SQLite databases of other programs in place, also while those programs have them open.

No statement is open between two values, since an open one would hold up the program that writes. Only the tables that
a reader names can be read at all: beside them, in the same file, stand credentials.
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
from kiro_learn.ports.histories import Skipped

BUSY_SECONDS = 2.0
MOST_BYTES = 33_554_432
"""Of one value."""
MOST_COPIED_BYTES = 2_147_483_648
"""Of a database that another program holds for itself."""
MOST_STEPS = 200_000_000
"""Of SQLite's virtual machine in one statement, some seconds: the pages of a damaged file may form a circle."""
STEPS_BETWEEN_COUNTS = 1_000_000

HELD = "databases that another program holds for itself"
DAMAGED = "databases that are damaged, or of an unknown shape"
TOO_LONG = "values too long to read"

_WAL_FORMAT = 2
_WAL_PLACE = 18
_TOO_LONG = b"\xff"
"""In the place of such a value: no text in UTF-8."""

_ALLOWED = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE, apsw.SQLITE_TRANSACTION})
_SCHEMA = frozenset({"sqlite_master", "sqlite_schema"})

_NUMBER = re.compile(r"-?[0-9]{1,18}")

Row: TypeAlias = tuple[str | None, ...]


@contextmanager
def foreign_database(path: Path, tables: frozenset[str], skipped: Skipped = not_counted) -> Iterator[ForeignDatabase]:
    """The database at ``path``, of which ``tables`` can be read, for the length of the block."""
    with ExitStack() as stack:
        yield ForeignDatabase(path, tables, skipped, stack)


class ForeignDatabase:
    """Rows of texts: numbers as they are written, bytes that are no UTF-8 replaced.

    What cannot be read is left out and counted: no statement fails.
    """

    def __init__(self, path: Path, tables: frozenset[str], skipped: Skipped, stack: ExitStack) -> None:
        """``stack``: at its end everything is closed."""
        self._path = path
        self._tables = tables
        self._skipped = skipped
        self._stack = stack
        self._connection: apsw.Connection | None = None
        self._is_copy = False
        self._steps = 0

    def all(self, columns: Sequence[str], rest: str, *values: str | int) -> list[Row]:
        """The rows of ``SELECT columns rest``; for keys, since all of them are in memory at once."""
        selected = ", ".join(
            f"iif(octet_length({column}) > {MOST_BYTES}, x'ff', CAST({column} AS BLOB))" for column in columns
        )
        rows = self._fetched(f"SELECT {selected} {rest}", values)  # of our readers' constants
        return [tuple(self._text(value) for value in row) for row in rows]

    def one(self, columns: Sequence[str], rest: str, *values: str | int) -> Row | None:
        """The first row of that; None if there is none."""
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
        """A file with its log; what finds its way in that, SQLite makes anew. Not of a file of any size."""
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
        if self._is_copy:  # which may have to be rolled back first
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
    """No program has it open. SQLite would then make a log to read it, and leave that behind empty."""
    try:
        with path.open("rb") as file:
            head = file.read(_WAL_PLACE + 1)
    except OSError:
        return False
    return head[_WAL_PLACE:] == bytes((_WAL_FORMAT,)) and not Path(f"{path}-wal").exists()


def number(text: str | None) -> int:
    """A whole number that ``ForeignDatabase`` read; 0 of anything else."""
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0
