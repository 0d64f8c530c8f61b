"""Records: queries, their rows and words, feedback on them, and caches of those that were found last."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeAlias

import apsw

from kiro_learn.adapters.sqlite import index_statements, record_statements, rows, statements, word_reads
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable, parted
from kiro_learn.adapters.sqlite.rows import Values, to_features, to_record
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.errors import DuplicateRecord, UnknownRecord
from kiro_learn.model.ids import RecordId, from_text, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import CapturedRecord
from kiro_learn.model.record import MemoryRecord, indexed_columns
from kiro_learn.model.retrieval import Feedback, FeedbackCounts, RankingFeatures
from kiro_learn.ports.storage.answers import Change, RecordPage, RecordRemoved, RecordStored


def get_memory_records(
    connection: apsw.Connection, damaged: DamagedRows, record_ids: Sequence[RecordId]
) -> list[MemoryRecord]:
    found = connection.execute(record_statements.GET_RECORDS, {"record_ids": json.dumps(list(record_ids))})
    record_of = {record.record_id: record for record in damaged.only_readable(found, to_record)}
    return [record_of[record_id] for record_id in record_ids if record_id in record_of]


def get_ranking_features(
    connection: apsw.Connection, record_ids: Sequence[RecordId], damaged: DamagedRows
) -> dict[RecordId, RankingFeatures]:
    found = connection.execute(record_statements.RANKING_FEATURES, {"record_ids": json.dumps(list(record_ids))})
    return dict(damaged.only_readable(decodable(found), to_features))


def find_record_ids(connection: apsw.Connection, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
    asked: Values = {"namespace": namespace, "ending": ending, "limit": limit}
    return [RecordId(record_id) for (record_id,) in connection.execute(record_statements.RECORD_IDS_ENDING, asked)]


def list_memory_records(
    connection: apsw.Connection, damaged: DamagedRows, *, namespace: Namespace | None, limit: int, offset: int
) -> RecordPage:
    page = {"limit": limit, "offset": offset}
    if namespace is None:
        found = connection.execute(record_statements.RECORDS_OF_ALL, page)
        total = connection.execute(record_statements.COUNT_RECORDS_OF_ALL).get
    else:
        found = connection.execute(record_statements.RECORDS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(record_statements.COUNT_RECORDS_OF_NAMESPACE, {"namespace": namespace}).get
    items, broken = parted(damaged.readable(found, to_record))
    return RecordPage(items, total, broken)


# Rows of records with their words in the index.
#
# Functions that change what is searched return the changes, in order.


def number_of(connection: apsw.Connection, namespace: Namespace) -> tuple[int, int]:
    """The namespace's number, which is made if it has none, and the last number of its records."""
    values = {"namespace": namespace}
    found = connection.execute(statements.NAMESPACE_NUMBER, values).get
    number, last_record = found or connection.execute(statements.PUT_NAMESPACE, values).get
    return number, last_record


def is_known(connection: apsw.Connection, record_id: RecordId) -> bool:
    """Whether there is a record with this id, live or replaced."""
    return connection.execute(record_statements.FIND_EVERYWHERE, {"record_id": record_id}).fetchone() is not None


def list_alike(
    connection: apsw.Connection,
    namespace: Namespace,
    content_hash: str,
    *,
    after: datetime,
    before: datetime,
    limit: int,
) -> list[CapturedRecord]:
    values: Values = {
        "namespace": namespace,
        "hash": content_hash,
        "after": to_text(after),
        "before": to_text(before),
        "limit": limit,
    }
    found = connection.execute(record_statements.LIST_ALIKE, values).fetchall()
    return list(DamagedRows().only_readable(found, rows.to_captured))


def set_stale(connection: apsw.Connection, record_ids: Sequence[RecordId], at: datetime | None) -> None:
    values = {"record_ids": json.dumps(list(record_ids)), "stale_at": None if at is None else to_text(at)}
    connection.execute(record_statements.SET_STALE, values)


def set_pinned(connection: apsw.Connection, record_ids: Sequence[RecordId], at: datetime | None) -> int:
    values = {"record_ids": json.dumps(list(record_ids)), "pinned_at": None if at is None else to_text(at)}
    connection.execute(record_statements.SET_PINNED, values)
    return connection.changes()


def note_merged(connection: apsw.Connection, namespace: Namespace, branch: str) -> None:
    number, _ = number_of(connection, namespace)
    for statement in (record_statements.NOTE_MERGED, record_statements.NOTE_MERGED_OF_REPLACED):
        connection.execute(statement, {"number": number, "branch": branch})


def put_file_digests(connection: apsw.Connection, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
    values = ({"record_id": record_id, "digests": json.dumps(dict(noted))} for record_id, noted in digests.items())
    connection.executemany(record_statements.SET_FILE_DIGESTS, values)


def put_record(connection: apsw.Connection, record: MemoryRecord) -> list[Change]:
    if is_known(connection, record.record_id):
        raise DuplicateRecord(record.record_id)
    numbers = new_number(connection, record.namespace)
    connection.execute(record_statements.PUT_RECORD, rows.from_record(record) | numbers)
    return [put_words(connection, numbers["number"], record)]


def new_number(connection: apsw.Connection, namespace: Namespace) -> rows.Values:
    """The numbers of a new record and of its namespace. The first record creates the index of words."""
    namespace_number, last_record = number_of(connection, namespace)
    if last_record == 0:
        connection.execute(for_namespace(index_statements.CREATE_INDEX, namespace_number))
    return {"number": next_number(connection, namespace_number), "namespace_number": namespace_number}


def put_words(connection: apsw.Connection, number: int, record: MemoryRecord) -> RecordStored:
    """Enter the record, whose row has this number, into its namespace's index."""
    word_reads.put_words(connection, number, indexed_columns(record))
    return RecordStored(record.namespace, record.record_id)


def remove_record(connection: apsw.Connection, record_id: RecordId) -> list[Change]:
    """Delete a live record with its words; no changes if there is none."""
    found = connection.execute(record_statements.FIND_RECORD, {"record_id": record_id}).fetchone()
    if found is None:
        return []
    number, _, namespace = found
    values = {"number": number}
    word_reads.delete_words(connection, number)
    connection.execute(record_statements.CLEAR_EMBEDDING, values)
    connection.execute(record_statements.DELETE_RECORD, values)
    return [RecordRemoved(namespace, record_id)]


def next_number(connection: apsw.Connection, namespace_number: int) -> int:
    """The next number, which no record of the project ever had."""
    last_record: int = connection.execute(statements.NEXT_RECORD, {"number": namespace_number}).get
    return namespace_number << 32 | last_record


# Keeps the ids and times of the records that were found last, since the same ones are found for prompt after prompt.
#
# A record's number is never used again, and its id and time never change. So an entry of the cache is never wrong; the
# index of words decides which numbers exist in a state of the database.

MOST_KEPT = 20_000
"""The most records of all namespaces together, 6 MB; the oldest entries are evicted."""

RecordKey: TypeAlias = tuple[RecordId, datetime]


class RecordKeys:
    """Caches ids and times of records by their numbers. All reading connections share it."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: dict[int, RecordKey] = {}
        self._lock = threading.Lock()

    def read(self, connection: apsw.Connection, numbers: Iterable[int]) -> Mapping[int, RecordKey]:
        """The id and the time of the record with each number. A number without a record is left out."""
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
    rows = connection.execute(index_statements.RECORDS_OF_NUMBERS, {"numbers": json.dumps(sorted(numbers))})
    keys: dict[int, RecordKey] = {}
    for number, record_id, created_at in decodable(rows):
        with contextlib.suppress(ValueError, TypeError):  # a damaged record is no hit
            keys[number] = (record_id, from_text(created_at))
    return keys


# Keeps the ranking features that were read last, since the same records are found for prompt after prompt.
#
# Only features that cannot change any more are kept. Records and events never change, but the event that a record names
# as its first may still arrive.

MOST_BYTES = 8_000_000
"""The most memory of the cache; the least recently used records are evicted."""

BYTES_APIECE = 500
"""The memory of an entry without its texts: their objects and its dictionary entry."""


class RankingFeatureCache:
    """Caches the ranking features of records. All reading connections share it."""

    def __init__(self, damaged: DamagedRows, most_bytes: int = MOST_BYTES) -> None:
        self._damaged = damaged
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[RecordId, RankingFeatures] = OrderedDict()
        self._removal_count = 0
        self._lock = threading.Lock()

    def read(self, connection: apsw.Connection, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """See ``StorageBackend.get_ranking_features``. The cache changes its cost, never its result."""
        with self._lock:
            removal_count = self._removal_count
            known = {record_id: self._kept[record_id] for record_id in record_ids if record_id in self._kept}
            for record_id in known:
                self._kept.move_to_end(record_id)
        missing = [record_id for record_id in record_ids if record_id not in known]
        if not missing:
            return known
        found = get_ranking_features(connection, missing, self._damaged)
        with self._lock:
            if removal_count == self._removal_count:  # else one of ``found`` may just have been forgotten
                self._keep(found)
        return known | found

    def remove(self, record_ids: Iterable[RecordId]) -> None:
        """Drop removed records, and let no reader that still saw them put them back."""
        with self._lock:
            self._removal_count += 1
            for record_id in record_ids:
                gone = self._kept.pop(record_id, None)
                if gone is not None:
                    self._bytes -= _size_bytes(gone)

    def _keep(self, found: dict[RecordId, RankingFeatures]) -> None:
        for record_id, features in found.items():
            if features.session_id is not None and record_id not in self._kept:
                self._kept[record_id] = features
                self._bytes += _size_bytes(features)
        while self._bytes > self._most_bytes:
            self._bytes -= _size_bytes(self._kept.popitem(last=False)[1])


def _size_bytes(features: RankingFeatures) -> int:
    return sys.getsizeof(features.text) + sys.getsizeof(features.session_id) + BYTES_APIECE


def add_feedback(connection: apsw.Connection, record_id: RecordId, feedback: Feedback) -> None:
    one = {each.value: int(each is feedback) for each in Feedback}
    found = connection.execute(statements.ADD_FEEDBACK, {"record_id": record_id, **one}).fetchone()
    if found is None:
        raise UnknownRecord(record_id)


def list_feedback(connection: apsw.Connection, limit: int) -> dict[RecordId, FeedbackCounts]:
    return {
        RecordId(record_id): FeedbackCounts(**dict(zip(statements.FEEDBACK_COUNTS, counts, strict=True)))
        for record_id, *counts in connection.execute(statements.FEEDBACK, {"limit": limit})
    }
