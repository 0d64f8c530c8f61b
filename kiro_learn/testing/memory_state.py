"""What ``InMemoryStorage`` holds."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from datetime import date

import attrs

from kiro_learn.model.embedding_model import BUNDLED_MODEL, KnownModel, ModelIdentity
from kiro_learn.model.event import Event
from kiro_learn.model.graph import Evidence, GraphItem, GraphItemId
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.told import ToldId
from kiro_learn.model.usage import LlmUsage
from kiro_learn.model.vectors import Codes, Parts, Vector

BUNDLED = KnownModel(BUNDLED_MODEL, folder=None)


@attrs.frozen
class Waiting:
    """A row of the buffer."""

    event: Event
    size_bytes: int
    stands_for: tuple[EventId, ...] = ()
    is_parked: bool = False

    @property
    def sources(self) -> tuple[EventId, ...]:
        return self.stands_for or (self.event.event_id,)


@attrs.define
class State:
    """All that ``InMemoryStorage`` holds, by id, in order of arrival.

    Values are frozen, so a copy of the dicts is a copy of it all.
    """

    events: dict[EventId, Event] = attrs.Factory(dict)
    buffer: dict[int, Waiting] = attrs.Factory(dict)
    last_position: int = 0
    records: dict[RecordId, MemoryRecord] = attrs.Factory(dict)
    current_model: KnownModel = BUNDLED
    known_models: dict[ModelIdentity, KnownModel] = attrs.Factory(lambda: {BUNDLED_MODEL: BUNDLED})
    serving_models: dict[Namespace, ModelIdentity] = attrs.Factory(dict)
    """Of every namespace with an event or a record."""
    embeddings: dict[tuple[RecordId, ModelIdentity], Parts] = attrs.Factory(dict)
    """Those of replaced records included."""
    set_aside: dict[tuple[RecordId, ModelIdentity], str] = attrs.Factory(dict)
    passages: dict[tuple[RecordId, ModelIdentity], Codes] = attrs.Factory(dict)
    replacements: dict[str, Replacement] = attrs.Factory(dict)
    """By id, as they were entered; which of ``replaced`` are still kept, ``history`` knows."""
    history: dict[RecordId, MemoryRecord] = attrs.Factory(dict)
    """The records that were replaced."""
    brought_by: dict[RecordId, str] = attrs.Factory(dict)
    """The id of the replacement with which a record came."""
    replaced_by: dict[RecordId, str] = attrs.Factory(dict)
    """The id of the replacement with which a record went."""
    forgotten: set[tuple[Namespace, EventId, bytes]] = attrs.Factory(set)
    """Events of records that were forgotten, each with a digest of what the record said."""
    parked_clusters: dict[str, ParkedCluster] = attrs.Factory(dict)
    llm_usage: dict[tuple[date, Namespace], LlmUsage] = attrs.Factory(dict)
    runs: dict[str, LearningRun] = attrs.Factory(dict)
    hook_sessions: dict[str, str] = attrs.Factory(dict)
    damaged_words: set[Namespace] = attrs.Factory(set)
    """Projects whose index of words cannot be read."""
    damaged_rows: set[str] = attrs.Factory(set)
    """Ids of events and records that cannot be read."""
    file_digests: dict[RecordId, dict[str, str]] = attrs.Factory(dict)
    """Of files that live records cite, by path."""
    told: dict[tuple[Namespace, str, ToldId], int] = attrs.Factory(dict)
    """The number of a session's prompt by which something was told last, in the order of telling."""
    graph_items: dict[GraphItemId, GraphItem] = attrs.Factory(dict)
    graph_vectors: dict[GraphItemId, tuple[int, str, Vector]] = attrs.Factory(dict)
    """The number of each, in order of arrival, the digest of its model, and the vector."""
    last_graph_vector: int = 0
    graph_evidence: dict[tuple[GraphItemId, EventId], Evidence] = attrs.Factory(dict)

    expired: dict[EventId, int] = attrs.Factory(dict)
    """Bytes that the contents of events had which went by age."""
    distilled: set[RecordId] = attrs.Factory(set)

    def copy(self) -> State:
        return State(**{field.name: copy.copy(getattr(self, field.name)) for field in attrs.fields(State)})

    def put_told(self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], prompt_number: int) -> None:
        known: set[str] = {each.record_id for each in self.records_of(namespace)}
        known |= {item.item_id for item in self.graph_items.values() if item.namespace == namespace}
        for item_id in (each for each in item_ids if each in known):
            self.told.pop((namespace, session_id, item_id), None)
            self.told[namespace, session_id, item_id] = prompt_number

    def forget_told(self, item_id: ToldId) -> None:
        self.told = {key: number for key, number in self.told.items() if key[2] != item_id}

    def is_gone(self, event: Event) -> bool:
        """Nothing may be learned from it any more: it was forgotten, or lost its content by age."""
        is_forgotten = any(found[:2] == (event.namespace, event.event_id) for found in self.forgotten)
        return is_forgotten or event.event_id in self.expired

    def events_of(self, namespace: Namespace | None) -> list[Event]:
        return [event for event in self.events.values() if namespace in {None, event.namespace}]

    def records_of(self, namespace: Namespace | None) -> list[MemoryRecord]:
        return [record for record in self.records.values() if namespace in {None, record.namespace}]

    def serving(self, namespace: Namespace) -> ModelIdentity:
        """The model by whose vectors the namespace is searched."""
        return self.serving_models.get(namespace, self.current_model.identity)

    def buffer_of(self, namespace: Namespace) -> Iterator[tuple[int, Waiting]]:
        """Oldest first, what is parked included."""
        return ((position, row) for position, row in sorted(self.buffer.items()) if row.event.namespace == namespace)

    def waiting_in(self, namespace: Namespace) -> Iterator[tuple[int, Waiting]]:
        return ((position, row) for position, row in self.buffer_of(namespace) if not row.is_parked)

    def parked_in(self, namespace: Namespace) -> Iterator[tuple[int, Waiting]]:
        return ((position, row) for position, row in self.buffer_of(namespace) if row.is_parked)
