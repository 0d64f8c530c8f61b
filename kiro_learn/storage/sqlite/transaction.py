"""What one piece of writing may do, on the writer's connection, inside its savepoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import apsw

from kiro_learn.errors import DuplicateRecord
from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.storage.indexed_text import COLUMNS, indexed_columns
from kiro_learn.storage.interface import Change, RecordEmbedded, RecordRemoved, RecordStored
from kiro_learn.storage.sqlite import rows, statements, vectors
from kiro_learn.storage.sqlite.statements import for_namespace
from kiro_learn.vectors import Vector


class SqliteTransaction:
    """A ``StorageTransaction``. apsw's errors go through it: they end the whole batch, not one work of it."""

    def __init__(self, connection: apsw.Connection, utc_now: Callable[[], datetime]) -> None:
        self._connection = connection
        self._utc_now = utc_now
        self.changes: list[Change] = []

    def put_event(self, event: Event, *, size_bytes: int, buffered: bool) -> bool:
        self._connection.execute(statements.PUT_EVENT, rows.from_event(event, transaction_time=self._utc_now()))
        if self._connection.changes() == 0:
            return False
        number, _ = self._namespace(event.namespace)
        if buffered:
            values: rows.Values = {"number": number, "event_id": event.event_id, "size_bytes": size_bytes}
            self._connection.execute(statements.PUT_BUFFERED, values)
        return True

    def put_memory_record(self, record: MemoryRecord) -> None:
        if self._connection.execute(statements.FIND_RECORD, {"record_id": record.record_id}).get is not None:
            raise DuplicateRecord(record.record_id)
        namespace_number, last_record = self._namespace(record.namespace)
        if last_record == 0:
            self._connection.execute(for_namespace(statements.CREATE_INDEX, namespace_number))
        number = self._next_number(namespace_number)
        numbers: rows.Values = {"number": number, "namespace_number": namespace_number}
        self._connection.execute(statements.PUT_RECORD, rows.from_record(record) | numbers)
        words: rows.Values = {"number": number, **dict(zip(COLUMNS, indexed_columns(record), strict=True))}
        self._connection.execute(for_namespace(statements.PUT_WORDS, namespace_number), words)
        self.changes.append(RecordStored(record.namespace, record.record_id))

    def put_embedding(self, record_id: RecordId, embedding: Vector) -> None:
        blob = vectors.to_blob(record_id, embedding)
        values: rows.Values = {"record_id": record_id, "embedding": blob}
        found = self._connection.execute(statements.PUT_EMBEDDING, values).fetchone()
        if found is not None:
            number, created_at = found
            namespace = self._connection.execute(statements.NAMESPACE_OF_NUMBER, {"number": number}).get
            vector = vectors.from_blob(record_id, blob)
            self.changes.append(RecordEmbedded(namespace, record_id, from_text(created_at), vector))

    def set_embedding_aside(self, record_id: RecordId, reason: str) -> None:
        self._connection.execute(statements.SET_ASIDE, {"record_id": record_id, "reason": reason})

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        return sum(self._delete(record_id) for record_id in record_ids)

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        number, _ = self._namespace(namespace)
        self._connection.execute(statements.CLEAR_BUFFER, {"number": number, "through": through})

    def put_run(self, run: LearningRun) -> None:
        self._connection.execute(statements.PUT_RUN, rows.from_run(run))

    def put_hook_session(self, key: str, session_id: str) -> None:
        self._connection.execute(statements.PUT_HOOK_SESSION, {"key": key, "session_id": session_id})

    def _namespace(self, namespace: Namespace) -> tuple[int, int]:
        """Its number, made if it has none yet, and the last number of its records."""
        self._connection.execute(statements.PUT_NAMESPACE, {"namespace": namespace})
        number, last_record = self._connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).get
        return number, last_record

    def _next_number(self, namespace_number: int) -> int:
        last_record: int = self._connection.execute(statements.NEXT_RECORD, {"number": namespace_number}).get
        return namespace_number << 32 | last_record

    def _delete(self, record_id: RecordId) -> bool:
        found = self._connection.execute(statements.FIND_RECORD, {"record_id": record_id}).fetchone()
        if found is None:
            return False
        number, namespace_number, namespace = found
        values = {"number": number}
        self._connection.execute(for_namespace(statements.DELETE_WORDS, namespace_number), values)
        self._connection.execute(statements.CLEAR_EMBEDDING, values)
        self._connection.execute(statements.DELETE_RECORD, values)
        self.changes.append(RecordRemoved(namespace, record_id))
        return True
