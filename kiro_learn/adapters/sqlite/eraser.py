"""Overwrites what the database file still holds of forgotten records, rewrites the file, and measures it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import apsw

from kiro_learn.adapters.sqlite import index_statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.errors import StorageError
from kiro_learn.model.retention import MOST_REWRITTEN_BYTES, FileSize

# Overwrites what the file still holds of forgotten records, in steps. Other work may write between two steps.
#
# Three places hold copies of a deleted row: the index of words, until its parts are merged; the write-ahead log, until
# it is written back and cut off; and the unallocated space in pages.

PAGES_AT_ONCE = 1_024
"""The pages that are overwritten in one step: some milliseconds."""

LEAST_CHANGES = 2
"""The fewest changed rows of a merge that had work to do; otherwise it changes one row or none."""


class LogInUse(Exception):
    """The write-ahead log could not be truncated: a connection still reads an earlier state."""


def steps(connection: apsw.Connection, path: Path, namespace_numbers: set[int]) -> Iterator[None]:
    """Erase step by step on the writer's connection. Other work may use the connection between two steps.

    Raises:
      LogInUse: another connection reads. Nothing is damaged, and a later attempt may succeed.
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
    """The projects that were merged into these: their indexes still have the words of moved records."""
    return {
        source for source, target in connection.execute(index_statements.MERGED_NUMBERS) if target in namespace_numbers
    }


def _merge(connection: apsw.Connection, namespace_number: int) -> bool:
    """Merge some of the index's parts; False once it is one part without forgotten entries."""
    if not connection.execute(index_statements.HAS_TABLE, {"name": f"records_fts_{namespace_number:d}"}).get:
        return False
    before = connection.total_changes()
    connection.execute(for_namespace(index_statements.MERGE_WORDS, namespace_number))
    return connection.total_changes() - before >= LEAST_CHANGES


def _erase_pages(connection: apsw.Connection, path: Path, size: int, start: int) -> int:
    """Overwrite unused space in some pages after the first ``start``; answers how many pages the file has.

    While pages are rewritten in place, all commits must be in the file, and no other connection may write to it.
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
    # Opened through SQLite, which keeps the locks of this process; the close of a plain file would drop them.
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


# Finds the unallocated space of a page of a database file, which may hold copies of moved or deleted rows.
#
# ``secure_delete`` overwrites a deleted row in its place. It does not overwrite copies that stay in the unallocated
# space of a page when a tree is balanced. See "B-tree Pages" and "The Freelist" in SQLite's file format.

FILE_HEADER_BYTES = 100
FREELIST_PLACE = 32
"""The place in the file's header of the number of the freelist's first trunk page."""

CELLS_START = {2: 12, 5: 12, 10: 8, 13: 8}
"""The bytes of a tree page's header, by the page's kind: nodes of an index and of a table, then leaves of both."""

LARGEST_PAGE = 65_536

FREE_BLOCK_HEADER_BYTES = 4
"""A free block begins with the place of the next one and its own size."""


def without_slack(page: bytes, *, is_first: bool) -> bytes:
    """The page of a tree with zeros in its unallocated and freed space; any other page as it is.

    Other pages begin with the number of a next page. Its first byte is 0, which is no kind, in files below 64 GiB.
    """
    header = FILE_HEADER_BYTES if is_first else 0
    length = CELLS_START.get(page[header])
    if length is None:
        return page
    start = header + length + 2 * _number(page, header + 3, 2)
    end = _number(page, header + 5, 2) or LARGEST_PAGE
    if not header < start <= end <= len(page):
        return page
    page = _overwritten(page, start, end)
    for block, block_end in _free_blocks(page, header, end):
        page = _overwritten(page, block + FREE_BLOCK_HEADER_BYTES, block_end)
    return page


def _free_blocks(page: bytes, header: int, least: int) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each free block, in order."""
    block = _number(page, header + 1, 2)
    while least <= block <= len(page) - FREE_BLOCK_HEADER_BYTES:
        end = block + _number(page, block + 2, 2)
        if not block + FREE_BLOCK_HEADER_BYTES <= end <= len(page):
            return
        yield block, end
        block, least = _number(page, block, 2), end


def freed_pages(read_page: Callable[[int], bytes]) -> dict[int, int]:
    """The pages of the freelist, and the place in each from which on nothing is read."""
    freed: dict[int, int] = {}
    trunk = _number(read_page(1), FREELIST_PLACE, 4)
    while trunk and trunk not in freed:
        page = read_page(trunk)
        count = _number(page, 4, 4)
        freed |= {_number(page, 8 + 4 * index, 4): 0 for index in range(count)}
        freed[trunk] = 8 + 4 * count
        trunk = _number(page, 0, 4)
    return freed


def overwritten_from(page: bytes, start: int) -> bytes:
    """``page`` with zeros from ``start`` on."""
    return _overwritten(page, start, len(page))


def _overwritten(page: bytes, start: int, end: int) -> bytes:
    slack = page[start:end]
    return page if slack.count(0) == len(slack) else page[:start] + bytes(len(slack)) + page[end:]


def _number(page: bytes, place: int, size: int) -> int:
    return int.from_bytes(page[place : place + size], "big")


# Rewrites the database file without what is free in it.
#
# SQLite makes a copy without the free space, and writes the copy back through the write-ahead log. The copy is made in
# memory, as all temporary data (``connections.open_writer``), so that no temporary file has content. A database that
# is too large for the memory is left as it is.

STEPS_BETWEEN_INTERRUPTIONS = 1_000
"""The steps of SQLite between two chances to stop; a step here is a row that it copies."""

# Reads every page of the file, once a day: half a second for 600 MB. First pages of tables and last pages of long texts
# are left out: they are seldom full, in a rewritten file too.
HALF_EMPTY = """
    SELECT coalesce(sum(unused), 0)
      FROM dbstat
     WHERE path <> '/' AND pagetype <> 'overflow' AND unused > pgsize / 2
"""


def file_size(connection: apsw.Connection) -> FileSize:
    """The size of the file. Free space includes that of pages that are at least half empty, which a rewrite fills."""
    page, count, free = (connection.pragma(name) for name in ("page_size", "page_count", "freelist_count"))
    return FileSize(page * count, page * free + connection.execute(HALF_EMPTY).get)


def rewrite(connection: apsw.Connection, path: Path, *, interrupted: Callable[[], bool]) -> None:
    """Rewrite the file, on the writer's connection, outside of a transaction.

    ``interrupted`` is called all the time. An error that it raises leaves the file as it was.

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
