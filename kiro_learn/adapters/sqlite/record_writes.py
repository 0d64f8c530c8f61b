"""Rows of records with what belongs to them: their words, and what an index is told of each.

Every function answers with the changes that it made, in order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import apsw

from kiro_learn.adapters.sqlite import rows, statements, word_writes
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.errors import DuplicateRecord
from kiro_learn.model.ids import RecordId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import CapturedRecord
from kiro_learn.model.record import MemoryRecord, indexed_columns
from kiro_learn.ports.storage.answers import Change, RecordRemoved, RecordStored


def number_of(connection: apsw.Connection, namespace: Namespace) -> tuple[int, int]:
    """The namespace's number, made if it has none yet, and the last number of its records."""
    values = {"namespace": namespace}
    found = connection.execute(statements.NAMESPACE_NUMBER, values).get
    number, last_record = found or connection.execute(statements.PUT_NAMESPACE, values).get
    return number, last_record


def is_known(connection: apsw.Connection, record_id: RecordId) -> bool:
    """Alive or replaced."""
    return connection.execute(statements.FIND_EVERYWHERE, {"record_id": record_id}).fetchone() is not None


def list_alike(connection: apsw.Connection, values: rows.Values) -> list[CapturedRecord]:
    """See ``StorageTransaction.list_alike``. ``values``: those of ``LIST_ALIKE``."""
    found = connection.execute(statements.LIST_ALIKE, values).fetchall()
    return list(DamagedRows().only_readable(found, rows.to_captured))


def set_stale(connection: apsw.Connection, record_ids: Sequence[RecordId], at: datetime | None) -> None:
    values = {"record_ids": json.dumps(list(record_ids)), "stale_at": None if at is None else to_text(at)}
    connection.execute(statements.SET_STALE, values)


def set_pinned(connection: apsw.Connection, record_ids: Sequence[RecordId], at: datetime | None) -> int:
    values = {"record_ids": json.dumps(list(record_ids)), "pinned_at": None if at is None else to_text(at)}
    connection.execute(statements.SET_PINNED, values)
    return connection.changes()


def note_merged(connection: apsw.Connection, namespace: Namespace, branch: str) -> None:
    number, _ = number_of(connection, namespace)
    for statement in (statements.NOTE_MERGED, statements.NOTE_MERGED_OF_REPLACED):
        connection.execute(statement, {"number": number, "branch": branch})


def put_file_digests(connection: apsw.Connection, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
    values = ({"record_id": record_id, "digests": json.dumps(dict(noted))} for record_id, noted in digests.items())
    connection.executemany(statements.SET_FILE_DIGESTS, values)


def put_record(connection: apsw.Connection, record: MemoryRecord) -> list[Change]:
    if is_known(connection, record.record_id):
        raise DuplicateRecord(record.record_id)
    numbers = new_number(connection, record.namespace)
    connection.execute(statements.PUT_RECORD, rows.from_record(record) | numbers)
    return [put_words(connection, numbers["number"], record)]


def new_number(connection: apsw.Connection, namespace: Namespace) -> rows.Values:
    """The numbers of a new record and of its namespace, which has an index of words from then on."""
    namespace_number, last_record = number_of(connection, namespace)
    if last_record == 0:
        connection.execute(for_namespace(statements.CREATE_INDEX, namespace_number))
    return {"number": next_number(connection, namespace_number), "namespace_number": namespace_number}


def put_words(connection: apsw.Connection, number: int, record: MemoryRecord) -> RecordStored:
    """Enter the record whose row has this number into its namespace's index."""
    word_writes.put_words(connection, number, indexed_columns(record))
    return RecordStored(record.namespace, record.record_id)


def remove_record(connection: apsw.Connection, record_id: RecordId) -> list[Change]:
    """Nothing if it is not alive."""
    found = connection.execute(statements.FIND_RECORD, {"record_id": record_id}).fetchone()
    if found is None:
        return []
    number, _, namespace = found
    values = {"number": number}
    word_writes.delete_words(connection, number)
    connection.execute(statements.CLEAR_EMBEDDING, values)
    connection.execute(statements.DELETE_RECORD, values)
    return [RecordRemoved(namespace, record_id)]


def next_number(connection: apsw.Connection, namespace_number: int) -> int:
    """A number that no record of the project has had."""
    last_record: int = connection.execute(statements.NEXT_RECORD, {"number": namespace_number}).get
    return namespace_number << 32 | last_record
