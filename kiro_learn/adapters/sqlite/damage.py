"""Rows that cannot be read: each is left out, named by its id, and counted.

Text comes as bytes wherever a row is to be named, since SQLite hands over a row whole or, with text that is not UTF-8
in it, not at all. Where there are too many rows for that, such a row is left out and only counted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import structlog

from kiro_learn.adapters.sqlite.damaged_row import DamagedRow
from kiro_learn.adapters.sqlite.rows import Row

log = structlog.get_logger()

T = TypeVar("T")

MOST_NAMED = 1_000
"""Rows that are remembered, so that a database of noise does not fill the memory."""


class DamagedRows:
    """The damaged rows that reads have met so far. Shared by all reading connections."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._lock = threading.Lock()

    def note(self, row_id: str) -> bool:
        """Remember it; True for the first time."""
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
        """Each row's value; in the place of one that cannot be read, why, which is noted."""
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
    """The values, and the names of the rows that have none."""
    found = list(values)
    readable = tuple(value for value in found if not isinstance(value, DamagedRow))
    return readable, tuple(value.row_id for value in found if isinstance(value, DamagedRow))
