"""Databases as agents leave them: with a write-ahead log that holds the newest rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

Rows = Iterable[tuple[str, Sequence[Any]]]
"""Statements, each with its values."""


def write_database(path: Path, schema: str, older: Rows, newest: Rows = ()) -> None:
    """Write ``older`` into the file, and ``newest`` only into the log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(schema)
        _write(connection, older)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _write(connection, newest)


def _write(connection: apsw.Connection, rows: Rows) -> None:
    with connection:
        for statement, values in rows:
            connection.execute(statement, values)
