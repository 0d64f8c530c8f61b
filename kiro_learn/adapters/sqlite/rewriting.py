"""Rewrites the database file without what is free in it.

SQLite makes a copy without that and writes that back, through the write-ahead log. The copy is made in memory, as
everything that SQLite keeps aside (``connections.open_writer``), so that no content lies in a temporary file. A
database that is too large for that is left as it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from kiro_learn.adapters.sqlite.retention_statements import HALF_EMPTY
from kiro_learn.errors import StorageError
from kiro_learn.model.retention import MOST_REWRITTEN_BYTES, FileSize

STEPS_BETWEEN_INTERRUPTIONS = 1_000
"""Of SQLite, whose steps here are rows that it copies."""


def file_size(connection: apsw.Connection) -> FileSize:
    """With the room in pages that are half empty at least, which a rewritten file hardly has."""
    page, count, free = (connection.pragma(name) for name in ("page_size", "page_count", "freelist_count"))
    return FileSize(page * count, page * free + connection.execute(HALF_EMPTY).get)


def rewrite(connection: apsw.Connection, path: Path, *, interrupted: Callable[[], bool]) -> None:
    """On the writer's connection, outside of a transaction. ``interrupted`` is asked all the time; what it raises
    leaves everything as it was.

    Raises:
      StorageError: there is more content than ``MOST_REWRITTEN_BYTES``, or less free space on the disk than content.
    """
    size, room = file_size(connection), shutil.disk_usage(path.parent).free
    content = size.content_bytes
    if content > MOST_REWRITTEN_BYTES:
        raise StorageError(
            f"{path} holds {content / 1e9:.1f} GB; up to {MOST_REWRITTEN_BYTES / 1e9:.1f} GB are rewritten in memory",
            hint=f"kiro-learn stop && sqlite3 {path} VACUUM && kiro-learn start      rewrites it on the disk",
        )
    if room < content:
        raise StorageError(
            f"rewriting {path} needs {content / 1e9:.1f} GB of free space, and there are {room / 1e9:.1f} GB",
            hint="Free some disk space. Nothing was changed.",
        )
    connection.set_progress_handler(interrupted, STEPS_BETWEEN_INTERRUPTIONS)
    try:
        connection.execute("VACUUM")
    finally:
        connection.set_progress_handler(None)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
