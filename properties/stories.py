"""Random stories of a store: what is written to it, and everything that can be asked of it afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from kiro_learn.errors import UnknownRecord
from kiro_learn.model.event import Event, EventKind, JsonBody, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.storage.interface import (
    Committed,
    Outcome,
    RecordEmbedded,
    SearchParams,
    StorageBackend,
    StorageTransaction,
    Work,
)
from kiro_learn.vectors import DIMENSION

NAMESPACES = [namespace_of(actor, "p" * 64) for actor in ("ann", "a_n", "ann%", "a/nn")]
WORDS = ["pool", "pools", "pooling", "size", "retry", "retries", "cache", "db.ts", "a", "migration", "migrate", "x"]
EVENT_IDS = [EventId(f"{number:026}") for number in range(8)]
RECORD_IDS = [RecordId(f"mr_{number:026}") for number in range(8)]
START = datetime(2026, 1, 5, tzinfo=UTC)

Question: TypeAlias = Callable[[StorageBackend], Awaitable[Any]]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
moments = st.integers(0, 5).map(lambda minute: START + timedelta(minutes=minute))
namespaces = st.sampled_from(NAMESPACES)
sources = st.builds(
    Source,
    surface=st.just("api"),
    version=st.just("1"),
    client_id=st.just("c"),
    project_path=st.sampled_from([None, "/home/ann/one", "/srv/two"]),
)
events = st.builds(
    Event,
    event_id=st.sampled_from(EVENT_IDS),
    session_id=st.sampled_from(["s", "t"]),
    actor_id=st.just("ann"),
    namespace=namespaces,
    schema_version=st.just(1),
    kind=st.sampled_from(EventKind),
    body=st.one_of(st.builds(TextBody, texts), st.builds(JsonBody, st.dictionaries(texts, texts, max_size=2))),
    valid_time=moments,
    source=sources,
)


def records(*, of: st.SearchStrategy[Any] = namespaces) -> st.SearchStrategy[MemoryRecord]:
    return st.builds(
        MemoryRecord,
        record_id=st.sampled_from(RECORD_IDS),
        namespace=of,
        strategy=st.just("test"),
        title=texts,
        summary=texts,
        facts=st.lists(texts, max_size=2).map(tuple),
        concepts=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
        files_touched=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
        observation_type=st.sampled_from(ObservationType),
        source_event_ids=st.lists(st.sampled_from(EVENT_IDS), min_size=1, max_size=2).map(tuple),
        created_at=moments,
    )


def put_event(event: Event, size_bytes: int, buffered: bool) -> Work[Any]:
    return lambda tx: tx.put_event(event, size_bytes=size_bytes, buffered=buffered)


def put_record(record: MemoryRecord) -> Work[Any]:
    return lambda tx: tx.put_memory_record(record)


def put_embedding(record_id: RecordId, number: int) -> Work[Any]:
    return lambda tx: tx.put_embedding(record_id, np.full(DIMENSION, number, np.float32))


def set_aside(record_id: RecordId) -> Work[Any]:
    return lambda tx: tx.set_embedding_aside(record_id, "odd")


def delete(record_ids: Sequence[RecordId]) -> Work[Any]:
    return lambda tx: tx.delete_memory_record(record_ids)


def clear(namespace: Any, through: int) -> Work[Any]:
    return lambda tx: tx.clear_buffer(namespace, through=through)


def refuse_after(work: Work[Any]) -> Work[Any]:
    def refused(tx: StorageTransaction) -> None:
        work(tx)
        raise UnknownRecord("mr_none")

    return refused


kept_works: st.SearchStrategy[Work[Any]] = st.one_of(
    st.builds(put_event, events, st.integers(0, 9), st.booleans()),
    st.builds(put_record, records()),
    st.builds(put_embedding, st.sampled_from(RECORD_IDS), st.integers(0, 3)),
    st.builds(set_aside, st.sampled_from(RECORD_IDS)),
    st.builds(delete, st.lists(st.sampled_from(RECORD_IDS), max_size=3)),
    st.builds(clear, namespaces, st.integers(0, 9)),
)
works: st.SearchStrategy[Work[Any]] = st.one_of(kept_works, kept_works, kept_works, st.builds(refuse_after, kept_works))
batches = st.lists(st.lists(works, max_size=5), max_size=8)


def told(outcome: Outcome) -> Any:
    """An outcome as something that can be compared."""
    if not isinstance(outcome, Committed):
        return str(outcome.error)
    return outcome.value, [_told_change(change) for change in outcome.changes]


def _told_change(change: Any) -> Any:
    if isinstance(change, RecordEmbedded):
        return change.namespace, change.record_id, change.created_at, change.vector.tobytes()
    return change


def questions(query: str) -> dict[str, Question]:
    """Everything that can be asked of a store."""
    asked: dict[str, Question] = {
        "buffers": lambda store: store.list_buffers(),
        "events": lambda store: store.list_events(namespace=None, limit=3, cursor=None),
        "projects": lambda store: store.list_projects(),
        "records": lambda store: store.list_memory_records(namespace=None, limit=3, offset=1),
        "backdrops": lambda store: store.get_backdrops(RECORD_IDS[::-1]),
        "records by id": lambda store: store.get_memory_records(RECORD_IDS[::-1]),
        "stats": lambda store: store.get_stats(None),
        "unembedded": lambda store: store.list_unembedded(3),
        "vectors": lambda store: store.count_embeddings(None),
    }
    for namespace in NAMESPACES:
        asked |= questions_about(namespace, query)
    return asked


def questions_about(namespace: Any, query: str) -> dict[str, Question]:
    """Everything that can be asked about one namespace."""
    params = SearchParams(namespace, query, limit=4, term_cap=3, with_neighbors=True)

    async def vectors(store: StorageBackend) -> Any:
        table = await store.list_embeddings(namespace)
        return table.record_ids, table.created_ats, table.vectors.tobytes()

    return {
        f"buffer of {namespace}": lambda store: store.snapshot_buffer(namespace, most_bytes=12),
        f"events of {namespace}": lambda store: store.list_events(namespace=namespace, limit=2, cursor=None),
        f"records of {namespace}": lambda store: store.list_memory_records(namespace=namespace, limit=2, offset=0),
        f"stats of {namespace}": lambda store: store.get_stats(namespace),
        f"counts of {namespace}": lambda store: store.count_embeddings(namespace),
        f"vectors of {namespace}": vectors,
        f"words in {namespace}": lambda store: store.rank_by_words(params),
        f"found in {namespace}": lambda store: store.search_memory_records(params),
    }


async def answers(store: StorageBackend, asked: dict[str, Question]) -> dict[str, Any]:
    return {name: await question(store) for name, question in asked.items()}
