"""Reads rows from the pages of a database file: a damaged page costs only the rows on it.

The pages are in the state of the last commit, even if SQLite cannot open it. See "The Write-Ahead Log", "The Database
Header", "B-tree Pages" and "Record Format" of SQLite's "Database File Format". No number in the file is trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from kiro_learn.adapters.sqlite.eraser import CELLS_START, FILE_HEADER_BYTES, LARGEST_PAGE, freed_pages

USUAL_SIZE = 4096
LEAST_SIZE = 512
MAGIC = b"SQLite format 3\0"

_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = 0x377F0682
"""The log's first bytes. In the file the last bit is 1 if checksums are of big-endian numbers."""


class Pages:
    """Reads pages, by their number from 1 on."""

    def __init__(self, path: Path) -> None:
        """``path``: the database's file, which may be missing; its log is in the same folder."""
        self._file = path.read_bytes() if path.is_file() else b""
        log = Path(f"{path}-wal")
        self._log = log.read_bytes() if log.is_file() else b""
        self.size = _page_size(self._file, self._log)
        self._frames, committed = _committed_frames(self._log, self.size)
        self.count = max(committed, -(-len(self._file) // self.size))

    def read(self, number: int) -> bytes | None:
        """The page; None if it is missing, incomplete, or all zeros."""
        place = self._frames.get(number)
        data, start = (self._file, (number - 1) * self.size) if place is None else (self._log, place)
        page = data[start : start + self.size] if 1 <= number <= self.count else b""
        return page if len(page) == self.size and page.count(0) < self.size else None


def _page_size(file: bytes, log: bytes) -> int:
    """The page size in the file or its log; the usual one if that is no valid size."""
    said = int.from_bytes(file[16:18], "big") if file.startswith(MAGIC) else int.from_bytes(log[8:12], "big")
    said = LARGEST_PAGE if said == 1 else said
    return said if LEAST_SIZE <= said <= LARGEST_PAGE and said & (said - 1) == 0 else USUAL_SIZE


def _committed_frames(log: bytes, size: int) -> tuple[dict[int, int], int]:
    """Where each page's newest committed state begins in the log, and how many pages the database has then."""
    frames: dict[int, int] = {}
    if len(log) < _LOG_HEADER:
        return frames, 0
    magic, _, said_size, _, salt, _, _ = struct.unpack(">IIII8sII", log[:_LOG_HEADER])
    order = ">" if magic & 1 else "<"
    if magic & ~1 != _LOG_MAGIC or said_size != size:
        return frames, 0
    sums = _checksum(log[:24], (0, 0), order)
    if sums != struct.unpack(">II", log[24:32]):
        return frames, 0
    since_commit: dict[int, int] = {}
    count = 0
    for start in range(_LOG_HEADER, len(log) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, pages, frame_salt, *said = struct.unpack(">II8sII", log[start : start + _FRAME_HEADER])
        content = start + _FRAME_HEADER
        sums = _checksum(log[start : start + 8] + log[content : content + size], sums, order)
        if frame_salt != salt or sums != tuple(said):
            break
        since_commit[number] = content
        if pages:
            frames |= since_commit
            since_commit, count = {}, pages
    return frames, count


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for index in range(0, len(words), 2):
        first = (first + words[index] + second) & 0xFFFFFFFF
        second = (second + words[index + 1] + first) & 0xFFFFFFFF
    return first, second


TABLE_LEAF, TABLE_NODE, INDEX_LEAF, INDEX_NODE = 13, 5, 10, 2
MOST_BYTES = 1_000_000_000
"""The most bytes of one row: SQLite's own limit."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_REAL, _ZERO, _ONE, _FIRST_BLOB = 7, 8, 9, 12
_IS_MORE = 0x80
"""The bit of a varint's byte that says that another byte follows."""


class Missing:
    """Stands for a value some of whose bytes are missing."""


MISSING: Final = Missing()
Value: TypeAlias = int | float | str | bytes | Missing | None
Values: TypeAlias = tuple[Value, ...]


class Nonsense(Exception):
    """The bytes are no cell."""


@attrs.frozen
class Cell:
    """One entry of a page: a row, or an entry of an index."""

    rowid: int
    """The row's number; 0 in an index."""
    values: Values


def kind_of(page: bytes, *, is_first: bool) -> int:
    """The kind of a tree's page; 0 if it is none."""
    kind = page[FILE_HEADER_BYTES if is_first else 0]
    return kind if kind in CELLS_START else 0


def children(page: bytes, *, is_first: bool) -> list[int]:
    """The numbers of the pages below a node."""
    header = FILE_HEADER_BYTES if is_first else 0
    count = int.from_bytes(page[header + 3 : header + 5], "big")
    start = header + CELLS_START[TABLE_NODE]
    places = _pointers(page, start, min(count, (len(page) - start) // 2))
    found = [int.from_bytes(page[place : place + 4], "big") for place in places]
    return [*found, int.from_bytes(page[header + 8 : header + 12], "big")]


def cells(pages: Pages, number: int, kind: int) -> Iterator[Cell]:
    """The readable entries of a page, each once."""
    page = pages.read(number)
    if page is None:
        return
    header = FILE_HEADER_BYTES if number == 1 else 0
    for extent in _extents(page, header, kind):
        try:
            payload = _payload(pages, page, extent)
            yield Cell(extent.rowid, _record(payload, extent.size))
        except (Nonsense, IndexError, struct.error):
            continue


def freed(pages: Pages) -> set[int]:
    """The pages that the database no longer uses, as far as the list of them can be read."""
    if pages.read(1) is None:
        return set()
    empty = bytes(pages.size)
    return set(freed_pages(lambda number: pages.read(number) or empty))


@attrs.frozen
class _Extent:
    """The place of a cell in its page."""

    rowid: int
    size: int
    """The bytes of its payload."""
    start: int
    """Where the payload begins in the page."""
    local: int
    """The bytes of the payload in the page; the rest is in a chain of overflow pages."""
    end: int
    """Where the cell ends in the page."""


def _extents(page: bytes, header: int, kind: int) -> list[_Extent]:
    """The cells of a page.

    If their count and the room that they take do not agree, the page's header or a pointer is damaged. Then every
    further place that could be a pointer to a cell is tried too.
    """
    start = header + CELLS_START[kind]
    count = int.from_bytes(page[header + 3 : header + 5], "big")
    content = int.from_bytes(page[header + 5 : header + 7], "big") or len(page)
    counted = _cells_at(page, kind, _pointers(page, start, min(count, (len(page) - start) // 2)))
    taken = sum(max(4, each.end - place) for place, each in counted.items())
    if len(counted) == count and taken + _free_bytes(page, header) == len(page) - content:
        return list(counted.values())
    lowest = min(counted, default=len(page))
    return list(_cells_at(page, kind, [*counted, *_pointers(page, start, max(0, lowest - start) // 2)]).values())


def _cells_at(page: bytes, kind: int, places: Iterable[int]) -> dict[int, _Extent]:
    found: dict[int, _Extent] = {}
    for place in places:
        try:
            found[place] = _extent(page, place, kind)
        except (Nonsense, IndexError):
            continue
    return found


def _free_bytes(page: bytes, header: int) -> int:
    """The free bytes of a page, in its list of free blocks and in fragments."""
    free, block, before = page[header + 7], int.from_bytes(page[header + 1 : header + 3], "big"), 0
    while before < block <= len(page) - 4:
        free += int.from_bytes(page[block + 2 : block + 4], "big")
        before, block = block, int.from_bytes(page[block : block + 2], "big")
    return free


def _pointers(page: bytes, start: int, count: int) -> list[int]:
    """The places of cells, by ``count`` pointers from ``start`` on."""
    places = (int.from_bytes(page[start + 2 * index : start + 2 * index + 2], "big") for index in range(count))
    return [place for place in dict.fromkeys(places) if start < place < len(page)]


def _extent(page: bytes, place: int, kind: int) -> _Extent:
    if kind == INDEX_NODE:
        place += 4
    size, place = _varint(page, place)
    rowid = 0
    if kind == TABLE_LEAF:
        rowid, place = _varint(page, place)
        rowid = rowid - (1 << 64) if rowid >> 63 else rowid
    if not 0 < size <= MOST_BYTES:
        raise Nonsense
    local = _local_bytes(len(page), size, kind)
    end = place + local + (0 if local == size else 4)
    if end > len(page):
        raise Nonsense
    return _Extent(rowid, size, place, local, end)


def _local_bytes(usable: int, size: int, kind: int) -> int:
    most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return size
    least = (usable - 12) * 32 // 255 - 23
    local = least + (size - least) % (usable - 4)
    return local if local <= most else least


def _payload(pages: Pages, page: bytes, extent: _Extent) -> bytes:
    """The payload of a cell, up to the first overflow page that is missing."""
    parts = [page[extent.start : extent.start + extent.local]]
    left = extent.size - extent.local
    following = int.from_bytes(page[extent.end - 4 : extent.end], "big") if left else 0
    while left > 0:
        overflow = pages.read(following)
        if overflow is None:
            break
        parts.append(overflow[4 : 4 + left])
        left -= len(parts[-1])
        following = int.from_bytes(overflow[:4], "big")
    return b"".join(parts)


def _record(payload: bytes, size: int) -> Values:
    """The values of a record. A value whose bytes are incomplete is MISSING."""
    header, place = _varint(payload, 0)
    if not place <= header <= min(len(payload), size):
        raise Nonsense
    sorts = []
    while place < header:
        sort, place = _varint(payload, place)
        sorts.append(sort)
    if header + sum(map(_length, sorts)) != size:
        raise Nonsense
    return tuple(_values(payload, header, sorts))


def _values(payload: bytes, place: int, sorts: Iterable[int]) -> Iterator[Value]:
    for sort in sorts:
        length = _length(sort)
        data = payload[place : place + length]
        place += length
        yield _value(sort, data) if len(data) == length else MISSING


def _value(sort: int, data: bytes) -> Value:
    if sort in _INTEGERS:
        return int.from_bytes(data, "big", signed=True)
    if sort < _FIRST_BLOB:
        known: dict[int, Value] = {0: None, _ZERO: 0, _ONE: 1}
        return known[sort] if sort in known else float(struct.unpack(">d", data)[0])
    return data if sort % 2 == 0 else _text(data)


def _text(data: bytes) -> Value:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return MISSING


def _length(sort: int) -> int:
    if sort in _INTEGERS:
        return _INTEGERS[sort]
    if sort == _REAL:
        return 8
    if sort >= _FIRST_BLOB:
        return (sort - _FIRST_BLOB) // 2
    if sort in {0, _ZERO, _ONE}:
        return 0
    raise Nonsense


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """The varint at ``place``, and the place after it. Raises IndexError: it does not end."""
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & ~_IS_MORE
        if byte < _IS_MORE:
            return value, place
    return value << 8 | data[place], place + 1
