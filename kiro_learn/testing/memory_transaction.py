"""What one piece of writing may do to an ``InMemoryStorage``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from kiro_learn.adapters.sqlite.rows import body_text, size_of
from kiro_learn.errors import DuplicateRecord
from kiro_learn.model.buffer import BufferedEvent, BufferSize
from kiro_learn.model.embedding_model import BUNDLED_MODEL, KnownModel, ModelIdentity
from kiro_learn.model.event import Event
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.told import ToldId
from kiro_learn.model.unchecked import unchecked_evolve
from kiro_learn.model.usage import LlmUsage
from kiro_learn.model.vectors import Codes, Parts
from kiro_learn.ports.storage.changes import Change, RecordRemoved, RecordStored
from kiro_learn.ports.storage.interface import Work
from kiro_learn.testing import memory_buffer, memory_embeddings, memory_graph, memory_history, memory_reads
from kiro_learn.testing.memory_graph_access import MemoryGraphWrites
from kiro_learn.testing.memory_retention import MemoryRetentionWrites
from kiro_learn.testing.memory_state import State, Waiting

T = TypeVar("T")


class MemoryTransaction(MemoryGraphWrites, MemoryRetentionWrites):
    """A ``StorageTransaction`` over a state that the storage throws away if the work fails."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.changes: list[Change] = []

    def put_event(self, event: Event, *, buffered: bool, size_bytes: int | None = None) -> int:
        if event.event_id in self.state.events:
            return 0
        size = size_bytes or size_of(body_text(event.body))
        self.state.events[event.event_id] = event
        self._enter(event.namespace)
        if buffered:
            self.state.last_position += 1
            self.state.buffer[self.state.last_position] = Waiting(event, size)
        return size

    def put_memory_record(self, record: MemoryRecord) -> None:
        if memory_history.is_known(self.state, record.record_id):
            raise DuplicateRecord(record.record_id)
        self._put(record)

    def find_duplicate(
        self, namespace: Namespace, content_hash: str, *, after: datetime, before: datetime
    ) -> RecordId | None:
        return memory_reads.find_duplicate(self.state, namespace, content_hash, after=after, before=before)

    def put_file_digests(self, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
        alive = self.state.records.keys() & digests.keys()
        self.state.file_digests |= {record_id: dict(digests[record_id]) for record_id in alive}

    def set_stale(self, record_ids: Sequence[RecordId], at: datetime | None) -> None:
        for record_id in self.state.records.keys() & set(record_ids):
            self.state.records[record_id] = unchecked_evolve(self.state.records[record_id], stale_at=at)

    def put_embedding(self, record_id: RecordId, embedding: Parts, model: ModelIdentity = BUNDLED_MODEL) -> None:
        self.changes += memory_embeddings.put_embedding(self.state, record_id, embedding, model)

    def put_passages(self, record_id: RecordId, codes: Codes, model: ModelIdentity = BUNDLED_MODEL) -> None:
        memory_embeddings.put_passages(self.state, record_id, codes, model)

    def set_embedding_aside(self, record_id: RecordId, reason: str, model: ModelIdentity = BUNDLED_MODEL) -> None:
        memory_embeddings.set_aside(self.state, record_id, reason, model)

    def adopt_model(self, model: KnownModel) -> None:
        self.changes += memory_embeddings.adopt_model(self.state, model)

    def switch_model(self, namespace: Namespace) -> None:
        self.changes += memory_embeddings.switch_model(self.state, namespace)

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        known = [each for each in dict.fromkeys(record_ids) if memory_history.is_known(self.state, each)]
        for record_id in known:
            self._forget(record_id)
        if known:
            memory_history.drop_forgotten_clusters(self.state)
            memory_graph.forget_forgotten(self.state)
        return len(known)

    def is_forgotten(self, record: MemoryRecord) -> bool:
        return memory_history.is_forgotten(self.state, record)

    def has_forgotten(self, namespace: Namespace, event_ids: Iterable[EventId]) -> bool:
        return memory_history.has_forgotten(self.state, namespace, event_ids)

    def replace_memory_records(self, replacement: Replacement) -> None:
        memory_history.refuse_strange_replacement(self.state, replacement)
        replacement_id = replacement.replacement_id
        self.state.replacements[replacement_id] = replacement
        self.state.brought_by |= dict.fromkeys(replacement.replacing, replacement_id)
        for record_id in dict.fromkeys(record.record_id for record in replacement.replaced):
            self.state.history[record_id] = self._take(record_id)
            self.state.replaced_by[record_id] = replacement_id

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        undone = memory_history.replacement_to_undo(self.state, record_id)
        for away in memory_history.staying_away(self.state, undone):
            self._forget_replaced(away.record_id)
            self.state.forget_told(away.record_id)
        undone = memory_history.told(self.state, undone)
        memory_history.drop_replacement(self.state, undone.replacement_id)
        for came in undone.replacing:
            self._take(came)
            memory_embeddings.drop_embeddings(self.state, came)
            self.state.forget_told(came)
        for went in undone.replaced:
            del self.state.replaced_by[went.record_id]
            self._put(self.state.history.pop(went.record_id))
        return undone

    def attempt(self, work: Work[T]) -> T:
        before, changes_before = self.state.copy(), self.changes[:]
        is_done = False
        try:
            value = work(self)
            is_done = True
        finally:
            if not is_done:
                self.state, self.changes = before, changes_before
        return value

    def park_cluster(self, cluster: ParkedCluster) -> None:
        self.state.parked_clusters[cluster.cluster_id] = cluster

    def unpark_cluster(self, cluster_id: str) -> None:
        self.state.parked_clusters.pop(cluster_id, None)

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        self._enter(namespace)
        self._enter(namespace)
        memory_buffer.clear_buffer(self.state, namespace, through=through)

    def compact_buffer(self, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
        self._enter(namespace)
        self._enter(namespace)
        memory_buffer.compact_buffer(self.state, namespace, through=through, entries=entries)

    def park_buffer(self, namespace: Namespace, *, through: int) -> None:
        self._enter(namespace)
        self._enter(namespace)
        memory_buffer.park_buffer(self.state, namespace, through=through)

    def unpark_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSize:
        self._enter(namespace)
        self._enter(namespace)
        return memory_buffer.unpark_buffer(self.state, namespace, most_bytes=most_bytes)

    def rebuild_words(self, namespace: Namespace, *, after: int, most: int) -> int | None:
        waiting = sorted(record.record_id for record in self.state.records_of(namespace))[after : after + most]
        if len(waiting) == most:
            return after + most
        self.state.damaged_words.discard(namespace)
        return None

    def add_llm_usage(self, usage: LlmUsage) -> None:
        key = (usage.day, usage.namespace)
        before = self.state.llm_usage.get(key)
        self.state.llm_usage[key] = usage if before is None else before + usage

    def put_run(self, run: LearningRun) -> None:
        self.state.runs[run.run_id] = run

    def put_hook_session(self, key: str, session_id: str) -> None:
        self.state.hook_sessions[key] = session_id

    def put_told(
        self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], *, prompt_number: int
    ) -> None:
        self._enter(namespace)
        self.state.put_told(namespace, session_id, item_ids, prompt_number)

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        self.state.told = {key: each for key, each in self.state.told.items() if key[:2] != (namespace, session_id)}

    def forget_told(self, item_ids: Collection[ToldId]) -> None:
        for item_id in item_ids:
            self.state.forget_told(item_id)

    def _enter(self, namespace: Namespace) -> None:
        self.state.serving_models.setdefault(namespace, self.state.current_model.identity)

    def _put(self, record: MemoryRecord) -> None:
        self._enter(record.namespace)
        self.state.records[record.record_id] = record
        self.changes.append(RecordStored(record.namespace, record.record_id))
        self.changes += memory_embeddings.embedding_of(self.state, record)

    def _take(self, record_id: RecordId) -> MemoryRecord:
        record = self.state.records.pop(record_id)
        self.changes.append(RecordRemoved(record.namespace, record_id))
        self.state.passages.pop((record_id, BUNDLED_MODEL), None)  # which stand beside it: they are made again
        self.state.file_digests.pop(record_id, None)
        return record

    def _forget(self, record_id: RecordId) -> None:
        """It, what it replaced, what that replaced, and so on."""
        memory_history.remember_forgotten(self.state, record_id)
        if record_id in self.state.records:
            self._take(record_id)
        doomed = [record_id]
        while doomed:
            gone = doomed.pop()
            replacement_id = self.state.brought_by.get(gone)
            if replacement_id is not None:
                replaced = memory_history.replaced_with(self.state, replacement_id)
                for each in replaced:
                    memory_history.remember_forgotten(self.state, each)
                doomed += replaced
                memory_history.drop_replacement(self.state, replacement_id)
            self._forget_replaced(gone)

    def _forget_replaced(self, record_id: RecordId) -> None:
        self.state.history.pop(record_id, None)
        memory_embeddings.drop_embeddings(self.state, record_id)
        replacement_id = self.state.replaced_by.pop(record_id, None)
        if replacement_id in self.state.replacements and not memory_history.replaced_with(self.state, replacement_id):
            memory_history.drop_replacement(self.state, replacement_id)
