"""What ``InMemoryStorage`` holds, and what one piece of writing may do to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from kiro_learn.errors import DimensionMismatch, DuplicateRecord
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.storage.interface import Change, RecordEmbedded, RecordRemoved, RecordStored
from kiro_learn.vectors import DIMENSION, Vector


@attrs.frozen
class Waiting:
    """A row of the buffer."""

    event: Event
    size_bytes: int


@attrs.define
class State:
    """Everything, by id, in order of arrival. Values are frozen, so a copy of the dicts is a copy of it all."""

    events: dict[EventId, Event] = attrs.Factory(dict)
    buffer: dict[int, Waiting] = attrs.Factory(dict)
    last_position: int = 0
    records: dict[RecordId, MemoryRecord] = attrs.Factory(dict)
    embeddings: dict[RecordId, Vector] = attrs.Factory(dict)
    set_aside: dict[RecordId, str] = attrs.Factory(dict)
    runs: dict[str, LearningRun] = attrs.Factory(dict)
    hook_sessions: dict[str, str] = attrs.Factory(dict)

    def copy(self) -> State:
        return State(
            events=dict(self.events),
            buffer=dict(self.buffer),
            last_position=self.last_position,
            records=dict(self.records),
            embeddings=dict(self.embeddings),
            set_aside=dict(self.set_aside),
            runs=dict(self.runs),
            hook_sessions=dict(self.hook_sessions),
        )

    def events_of(self, namespace: Namespace | None) -> list[Event]:
        return [event for event in self.events.values() if namespace in {None, event.namespace}]

    def records_of(self, namespace: Namespace | None) -> list[MemoryRecord]:
        return [record for record in self.records.values() if namespace in {None, record.namespace}]

    def waiting_in(self, namespace: Namespace) -> Iterator[tuple[int, Waiting]]:
        return ((position, row) for position, row in self.buffer.items() if row.event.namespace == namespace)


class MemoryTransaction:
    """A ``StorageTransaction`` over a state that the storage throws away if the work fails."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.changes: list[Change] = []

    def put_event(self, event: Event, *, size_bytes: int, buffered: bool) -> bool:
        if event.event_id in self._state.events:
            return False
        self._state.events[event.event_id] = event
        if buffered:
            self._state.last_position += 1
            self._state.buffer[self._state.last_position] = Waiting(event, size_bytes)
        return True

    def put_memory_record(self, record: MemoryRecord) -> None:
        if record.record_id in self._state.records:
            raise DuplicateRecord(record.record_id)
        self._state.records[record.record_id] = record
        self.changes.append(RecordStored(record.namespace, record.record_id))

    def put_embedding(self, record_id: RecordId, embedding: Vector) -> None:
        if embedding.shape != (DIMENSION,):
            raise DimensionMismatch(record_id=record_id, wanted=DIMENSION, found=embedding.size)
        record = self._state.records.get(record_id)
        if record is None:
            return
        vector = np.array(embedding, np.float32)
        vector.setflags(write=False)
        self._state.embeddings[record_id] = vector
        self._state.set_aside.pop(record_id, None)
        self.changes.append(RecordEmbedded(record.namespace, record_id, record.created_at, vector))

    def set_embedding_aside(self, record_id: RecordId, reason: str) -> None:
        if record_id in self._state.records and record_id not in self._state.embeddings:
            self._state.set_aside[record_id] = reason

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        return sum(self._delete(record_id) for record_id in record_ids)

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        for position, _row in list(self._state.waiting_in(namespace)):
            if position <= through:
                del self._state.buffer[position]

    def put_run(self, run: LearningRun) -> None:
        self._state.runs[run.run_id] = run

    def put_hook_session(self, key: str, session_id: str) -> None:
        self._state.hook_sessions[key] = session_id

    def _delete(self, record_id: RecordId) -> bool:
        record = self._state.records.pop(record_id, None)
        if record is None:
            return False
        self._state.embeddings.pop(record_id, None)
        self._state.set_aside.pop(record_id, None)
        self.changes.append(RecordRemoved(record.namespace, record_id))
        return True
