"""Overwrites in the file what is left of records that were forgotten, in steps between which others may write.

Three places hold copies after a row was deleted: the index of words, whose entries go when its parts are merged; the
write-ahead log, until it is written back and cut off; and the space in pages that is not allocated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.page_slack import freed_pages, overwritten_from, without_slack
from kiro_learn.adapters.sqlite.statements import for_namespace

PAGES_AT_ONCE = 1_024
"""Pages overwritten in one step: some milliseconds."""

LEAST_CHANGES = 2
"""A merge that had nothing to do changes one row, or none."""


class LogInUse(Exception):
    """The write-ahead log could not be truncated: a connection still reads an earlier state."""


def steps(connection: apsw.Connection, path: Path, namespace_numbers: set[int]) -> Iterator[None]:
    """Erase, on the writer's connection, which other work may use between two steps.

    Raises:
      LogInUse: nothing is damaged, and another attempt can be made.
    """
    for number in sorted(namespace_numbers | _merged_into(connection, namespace_numbers)):
        while _merge(connection, number):
            yield
    size: int = connection.pragma("page_size")
    start, count = 0, PAGES_AT_ONCE
    while start < count:
        count = _erase_pages(connection, path, size, start)
        start += PAGES_AT_ONCE
        yield


def _merged_into(connection: apsw.Connection, namespace_numbers: set[int]) -> set[int]:
    """The projects that became part of these, whose indexes have the words of what was moved still."""
    return {source for source, target in connection.execute(statements.MERGED_NUMBERS) if target in namespace_numbers}


def _merge(connection: apsw.Connection, namespace_number: int) -> bool:
    """Merge some of the index's parts; False once it is one part without forgotten entries."""
    if not connection.execute(statements.HAS_TABLE, {"name": f"records_fts_{namespace_number:d}"}).get:
        return False
    before = connection.total_changes()
    connection.execute(for_namespace(statements.MERGE_WORDS, namespace_number))
    return connection.total_changes() - before >= LEAST_CHANGES


def _erase_pages(connection: apsw.Connection, path: Path, size: int, start: int) -> int:
    """Overwrite in some pages after the first ``start`` ones; answers how many pages there are.

    All that is committed must be in the file, and no other connection may write it, while pages are rewritten in place.
    """
    is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1,)
    if is_busy:
        raise LogInUse
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _log_bytes(path):
            raise LogInUse
        count = _overwrite(path, size, start)
    finally:
        connection.execute("ROLLBACK")
    # Pages in the connection's cache still hold the old bytes, and a later write would restore them.
    connection.execute("PRAGMA shrink_memory")
    return count


def _overwrite(path: Path, size: int, start: int) -> int:
    # Opened by SQLite, which knows of the locks that this process has: a plain close would drop them.
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        count = file.xFileSize() // size
        freed = freed_pages(lambda number: file.xRead(size, (number - 1) * size))
        pages = file.xRead((min(start + PAGES_AT_ONCE, count) - start) * size, start * size)
        changed = {
            start + index: clean
            for index in range(len(pages) // size)
            if (clean := _clean(pages[index * size : (index + 1) * size], start + index + 1, freed)) is not None
        }
        for index, clean in changed.items():
            file.xWrite(clean, index * size)
        if changed:
            file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    return count


def _clean(page: bytes, number: int, freed: Mapping[int, int]) -> bytes | None:
    """The page with its slack overwritten; None if there is nothing to overwrite."""
    is_freed = number in freed
    clean = overwritten_from(page, freed[number]) if is_freed else without_slack(page, is_first=number == 1)
    return None if clean is page else clean


def _log_bytes(path: Path) -> int:
    try:
        return Path(f"{path}-wal").stat().st_size
    except FileNotFoundError:
        return 0
