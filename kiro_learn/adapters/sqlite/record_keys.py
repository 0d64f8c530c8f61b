"""Keeps the ids and times of the records found last: the same ones come near the top of one prompt after another.

A record's number is never given again, and its id and time never change. So what is kept is true as long as it is kept;
which numbers there are in a state of the database, its index of words knows.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import TypeAlias

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.model.ids import RecordId
from kiro_learn.model.moment import from_text

MOST_KEPT = 20_000
"""Most records of all namespaces together, 6 MB; the least recently used are evicted."""

RecordKey: TypeAlias = tuple[RecordId, datetime]


class RecordKeys:
    """Caches ids and times of records by their numbers. Shared by all reading connections."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: dict[int, RecordKey] = {}
        self._lock = threading.Lock()

    def read(self, connection: apsw.Connection, numbers: Iterable[int]) -> Mapping[int, RecordKey]:
        """By the number in the table of records: its id and when it was made. A number without a record is left out."""
        with self._lock:
            known = {number: self._kept.get(number) for number in numbers}
        missing = [number for number, key in known.items() if key is None]
        found = _read(connection, missing) if missing else {}
        with self._lock:
            self._kept |= found
            for number in list(islice(self._kept, max(0, len(self._kept) - self._most_kept))):
                del self._kept[number]
        return {number: key for number, key in known.items() if key is not None} | found


def _read(connection: apsw.Connection, numbers: list[int]) -> dict[int, RecordKey]:
    rows = connection.execute(statements.RECORDS_OF_NUMBERS, {"numbers": json.dumps(sorted(numbers))})
    keys: dict[int, RecordKey] = {}
    for number, record_id, created_at in decodable(rows):
        with contextlib.suppress(ValueError, TypeError):  # a damaged one is no hit
            keys[number] = (record_id, from_text(created_at))
    return keys
