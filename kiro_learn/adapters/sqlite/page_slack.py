"""Finds the unallocated space of a page of a database file, which may hold copies of moved or deleted rows.

``secure_delete`` overwrites a row where it is deleted, but not the copies that stay behind in a page when a tree is
balanced. They lie in the space that the page has not allocated, which nothing reads. See "B-tree Pages" and "The
Freelist" in SQLite's file format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

FILE_HEADER_BYTES = 100
FREELIST_PLACE = 32
"""In the file's header: the first page of the freelist's trunk."""

_CELLS_START = {2: 12, 5: 12, 10: 8, 13: 8}
"""How long the header of a page of a tree is, by its kind: interior ones of an index, of a table, then leaves."""

_LARGEST_PAGE = 65_536

FREE_BLOCK_HEADER_BYTES = 4
"""Where the next one is, and how long this one is."""


def without_slack(page: bytes, *, is_first: bool) -> bytes:
    """``page`` of a tree with nothing in the space that it has not allocated, or has freed; any other page as it is.

    A page of another sort starts with the number of the next one, whose first byte is 0 in files below 64 GiB.
    """
    header = FILE_HEADER_BYTES if is_first else 0
    length = _CELLS_START.get(page[header])
    if length is None:
        return page
    start = header + length + 2 * _number(page, header + 3, 2)
    end = _number(page, header + 5, 2) or _LARGEST_PAGE
    if not header < start <= end <= len(page):
        return page
    page = _overwritten(page, start, end)
    for block, block_end in _free_blocks(page, header, end):
        page = _overwritten(page, block + FREE_BLOCK_HEADER_BYTES, block_end)
    return page


def _free_blocks(page: bytes, header: int, least: int) -> Iterator[tuple[int, int]]:
    """Where each begins and ends; they are in order."""
    block = _number(page, header + 1, 2)
    while least <= block <= len(page) - FREE_BLOCK_HEADER_BYTES:
        end = block + _number(page, block + 2, 2)
        if not block + FREE_BLOCK_HEADER_BYTES <= end <= len(page):
            return
        yield block, end
        block, least = _number(page, block, 2), end


def freed_pages(read_page: Callable[[int], bytes]) -> dict[int, int]:
    """The pages of the freelist, and where of each begins what nothing reads."""
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
