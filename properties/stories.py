"""Random stories of a store: writes to it, and all questions that it can be asked afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from kiro_learn.errors import DuplicateRecord, InvalidRequest, KiroLearnError, UnknownRecord
from kiro_learn.model.buffer import BufferedEvent, ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import Event, EventKind, JsonBody, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, RecordFilter
from kiro_learn.model.retrieval import ToldId
from kiro_learn.model.statistics import LlmUsage
from kiro_learn.model.vectors import BUNDLED_MODEL, DIMENSION, KnownModel, ModelIdentity
from kiro_learn.ports.storage.answers import Committed, Outcome, RecordEmbedded, SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction, Work
from kiro_learn.ports.storage.records import RecordQuery, SyntaxSearch
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.retrieval.query.syntax import compile_query
from kiro_learn.testing.storage import search_records

NAMESPACES = [namespace_of(actor, "p" * 64) for actor in ("ann", "a_n", "ann%", "a/nn")]
WORDS = ["pool", "pools", "pooling", "size", "retry", "retries", "cache", "db.ts", "a", "migration", "migrate", "x"]
EVENT_IDS = [EventId(f"{number:026}") for number in range(8)]
DENSE_IDS = [EventId(f"{number:026}") for number in (90, 91)]
CLUSTER_IDS = ["c1", "c2"]
MODELS = [BUNDLED_MODEL, ModelIdentity("other", "b" * 64, 3), ModelIdentity("third", "c" * 64, 5)]
DAYS = [date(2026, 1, 5), date(2026, 1, 6)]
RECORD_IDS = [RecordId(f"mr_{number:026}") for number in range(8)]
START = datetime(2026, 1, 5, tzinfo=UTC)

MIDDLE = (START + timedelta(minutes=3), RECORD_IDS[4])

HISTORY = "history"
"""The beginning of questions about replaced records."""
OF_LEARNERS = ("buffer of", "events again", "later events", "parked clusters", "expirable")
"""The beginnings of questions whose answers depend on what was forgotten."""

Question: TypeAlias = Callable[[StorageBackend], Awaitable[Any]]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
moments = st.integers(0, 5).map(lambda minute: START + timedelta(minutes=minute))
namespaces = st.sampled_from(NAMESPACES)
sessions = st.sampled_from(["s", "t"])
sources = st.builds(
    Source,
    surface=st.just("api"),
    version=st.just("1"),
    client_id=st.just("c"),
    project_path=st.sampled_from([None, "/home/ann/one", "/srv/two"]),
)


def records(
    *, of: st.SearchStrategy[Any] = namespaces, ids: Sequence[RecordId] = RECORD_IDS
) -> st.SearchStrategy[MemoryRecord]:
    return st.builds(
        MemoryRecord,
        record_id=st.sampled_from(ids),
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
        capture_type=st.sampled_from([None, None, "file-write", "checkpoint"]),
        knowledge_type=st.sampled_from([None, None, *KnowledgeType]),
        text=st.one_of(st.just(""), texts),
        importance=st.sampled_from([None, None, 3, 7, 9]),
    )


def events(*, of: st.SearchStrategy[Any] = namespaces, ids: Sequence[EventId] = EVENT_IDS) -> st.SearchStrategy[Event]:
    return st.builds(
        Event,
        event_id=st.sampled_from(ids),
        session_id=sessions,
        actor_id=st.just("ann"),
        namespace=of,
        schema_version=st.just(1),
        kind=st.sampled_from(EventKind),
        body=st.one_of(st.builds(TextBody, texts), st.builds(JsonBody, st.dictionaries(texts, texts, max_size=2))),
        valid_time=moments,
        source=sources,
    )


clusters = st.builds(
    ParkedCluster,
    cluster_id=st.sampled_from(CLUSTER_IDS),
    namespace=namespaces,
    records=st.lists(records(), min_size=1, max_size=2).map(tuple),
    problem=texts,
    attempt_count=st.integers(1, 3),
    retry_at=moments,
)
usages = st.builds(
    LlmUsage,
    day=st.sampled_from(DAYS),
    namespace=namespaces,
    call_count=st.integers(0, 2),
    failure_count=st.integers(0, 2),
    characters_in=st.integers(0, 9),
    characters_out=st.integers(0, 9),
    seconds=st.sampled_from([0.0, 0.1, 0.2, 0.7]),
)


def put_event(event: Event, size_bytes: int, buffered: bool) -> Work[Any]:
    return lambda tx: tx.put_event(event, size_bytes=size_bytes, buffered=buffered)


def put_record(record: MemoryRecord) -> Work[Any]:
    return lambda tx: tx.put_memory_record(record)


def put_embedding(record_id: RecordId, number: int, row_count: int = 1) -> Work[Any]:
    return lambda tx: tx.put_embedding(record_id, np.full((row_count, DIMENSION), number, np.float32))


def set_aside(record_id: RecordId) -> Work[Any]:
    return lambda tx: tx.set_embedding_aside(record_id, "odd")


def put_model_embedding(record_id: RecordId, model: ModelIdentity) -> Work[Any]:
    return lambda tx: tx.put_embedding(record_id, np.full((2, model.dimension), 3, np.float32), model)


def set_model_embedding_aside(record_id: RecordId, model: ModelIdentity) -> Work[Any]:
    return lambda tx: tx.set_embedding_aside(record_id, "odd", model)


def adopt(model: ModelIdentity) -> Work[Any]:
    return lambda tx: tx.adopt_model(KnownModel(model, None if model == BUNDLED_MODEL else model.name))


def switch(namespace: Any) -> Work[Any]:
    return lambda tx: tx.switch_model(namespace)


def delete(record_ids: Sequence[RecordId]) -> Work[Any]:
    return lambda tx: tx.delete_memory_record(record_ids)


def clear(namespace: Any, through: int) -> Work[Any]:
    return lambda tx: tx.clear_buffer(namespace, through=through)


def replace(came: Sequence[MemoryRecord], went: Sequence[MemoryRecord], reason: ReplacementReason) -> Work[Any]:
    """Put the records that are not stored yet, then replace ``went`` by ``came``."""
    replacement = Replacement(
        replacement_id=" ".join(sorted(record.record_id for record in went)),
        namespace=came[0].namespace,
        reason=reason,
        replaced_at=START,
        replacing=tuple(record.record_id for record in came),
        replaced=tuple(went),
    )

    def work(tx: StorageTransaction) -> None:
        for record in (*went, *came):
            with contextlib.suppress(DuplicateRecord):
                tx.put_memory_record(record)
        tx.replace_memory_records(replacement)

    return work


def undo(record_id: RecordId) -> Work[Any]:
    return lambda tx: tx.undo_replacement(record_id)


def park(namespace: Any, through: int) -> Work[Any]:
    return lambda tx: tx.park_buffer(namespace, through=through)


def unpark(namespace: Any, most_bytes: int) -> Work[Any]:
    return lambda tx: tx.unpark_buffer(namespace, most_bytes=most_bytes)


def compact(arriving: Sequence[Event], dense: Event, size_bytes: int) -> Work[Any]:
    """Put ``arriving``, and compact them: the last event stays as it is, after one entry for all others."""
    *others, last = arriving
    entries = [BufferedEvent(last, 0, 5)]
    if others:
        entries.insert(0, BufferedEvent(dense, 0, size_bytes, tuple(event.event_id for event in others)))

    def work(tx: StorageTransaction) -> None:
        for event in arriving:
            tx.put_event(event, size_bytes=5, buffered=True)
        tx.compact_buffer(dense.namespace, through=99, entries=entries)

    return work


def park_cluster(cluster: ParkedCluster) -> Work[Any]:
    return lambda tx: tx.park_cluster(cluster)


def unpark_cluster(cluster_id: str) -> Work[Any]:
    return lambda tx: tx.unpark_cluster(cluster_id)


def add_usage(usage: LlmUsage) -> Work[Any]:
    return lambda tx: tx.add_llm_usage(usage)


def tell(namespace: Any, session_id: str, item_ids: Sequence[ToldId], prompt_number: int) -> Work[Any]:
    return lambda tx: tx.put_told(namespace, session_id, item_ids, prompt_number=prompt_number)


def clear_told(namespace: Any, session_id: str) -> Work[Any]:
    return lambda tx: tx.clear_told(namespace, session_id)


def forget_told(item_ids: Sequence[ToldId]) -> Work[Any]:
    return lambda tx: tx.forget_told(item_ids)


def set_stale(record_ids: Sequence[RecordId], moment: datetime | None) -> Work[Any]:
    return lambda tx: tx.set_stale(record_ids, moment)


def set_pinned(record_ids: Sequence[RecordId], moment: datetime | None) -> Work[Any]:
    return lambda tx: tx.set_pinned(record_ids, moment)


def expire(namespace: Any, event_ids: Sequence[EventId]) -> Work[Any]:
    return lambda tx: tx.expire_events(namespace, event_ids)


def mark_distilled(record_ids: Sequence[RecordId]) -> Work[Any]:
    return lambda tx: tx.mark_distilled(record_ids)


def delete_replaced(namespace: Any, before: datetime) -> Work[Any]:
    return lambda tx: tx.delete_replaced(namespace, before=before, limit=2)


def attempt(work: Work[Any]) -> Work[Any]:
    """A work that tries ``work``, and goes on without it if it is refused."""

    def attempted(tx: StorageTransaction) -> Any:
        try:
            return tx.attempt(work)
        except KiroLearnError as error:
            return str(error)

    return attempted


def refuse_after(work: Work[Any]) -> Work[Any]:
    def refused(tx: StorageTransaction) -> None:
        work(tx)
        raise UnknownRecord("mr_none")

    return refused


@st.composite
def replacements(draw: st.DrawFn) -> Work[Any]:
    """A work that replaces records by others, and some of these again."""
    of_one = records(of=st.just(draw(namespaces)))
    rest = draw(st.lists(of_one, min_size=2, max_size=5, unique_by=lambda record: record.record_id))
    reason = draw(st.sampled_from(ReplacementReason))
    went, rest = rest[:1], rest[1:]
    steps = []
    while rest:
        count = draw(st.integers(1, 2))
        steps.append(replace(rest[:count], went, reason))
        went, rest = rest[: draw(st.integers(1, count))], rest[count:]
    return lambda tx: [step(tx) for step in steps]


@st.composite
def compactions(draw: st.DrawFn) -> Work[Any]:
    namespace = st.just(draw(namespaces))
    arriving = draw(st.lists(events(of=namespace), min_size=1, max_size=3))
    return compact(arriving, draw(events(of=namespace, ids=DENSE_IDS)), draw(st.integers(0, 9)))


kept_works: st.SearchStrategy[Work[Any]] = st.one_of(
    st.builds(put_event, events(), st.integers(0, 9), st.booleans()),
    st.builds(put_record, records()),
    st.builds(put_embedding, st.sampled_from(RECORD_IDS), st.integers(0, 3), st.integers(1, 3)),
    st.builds(set_aside, st.sampled_from(RECORD_IDS)),
    st.builds(put_model_embedding, st.sampled_from(RECORD_IDS), st.sampled_from(MODELS)),
    st.builds(put_model_embedding, st.sampled_from(RECORD_IDS), st.sampled_from(MODELS)),
    st.builds(set_model_embedding_aside, st.sampled_from(RECORD_IDS), st.sampled_from(MODELS)),
    st.builds(adopt, st.sampled_from(MODELS)),
    st.builds(switch, namespaces),
    st.builds(delete, st.lists(st.sampled_from(RECORD_IDS), max_size=3)),
    replacements(),
    st.builds(undo, st.sampled_from(RECORD_IDS)),
    st.builds(clear, namespaces, st.integers(0, 9)),
    compactions(),
    st.builds(park, namespaces, st.integers(0, 9)),
    st.builds(unpark, namespaces, st.integers(0, 9)),
    st.builds(park_cluster, clusters),
    st.builds(unpark_cluster, st.sampled_from(CLUSTER_IDS)),
    st.builds(add_usage, usages),
    st.builds(tell, namespaces, sessions, st.lists(st.sampled_from(RECORD_IDS), max_size=3), st.integers(1, 9)),
    st.builds(clear_told, namespaces, sessions),
    st.builds(forget_told, st.lists(st.sampled_from(RECORD_IDS), max_size=2)),
    st.builds(set_stale, st.lists(st.sampled_from(RECORD_IDS), max_size=3), st.one_of(st.none(), moments)),
    st.builds(set_pinned, st.lists(st.sampled_from(RECORD_IDS), max_size=3), st.one_of(st.none(), moments)),
    st.builds(expire, namespaces, st.lists(st.sampled_from(EVENT_IDS), max_size=3)),
    st.builds(mark_distilled, st.lists(st.sampled_from(RECORD_IDS), max_size=3)),
    st.builds(delete_replaced, namespaces, st.sampled_from([START, START + timedelta(minutes=1)])),
)
failing_works = st.builds(refuse_after, kept_works)
works: st.SearchStrategy[Work[Any]] = st.one_of(
    kept_works, kept_works, kept_works, failing_works, st.builds(attempt, st.one_of(kept_works, failing_works))
)
batches = st.lists(st.lists(works, max_size=5), max_size=8)


def told(outcome: Outcome) -> Any:
    """An outcome as a value that can be compared."""
    if not isinstance(outcome, Committed):
        return str(outcome.error)
    return outcome.value, [_told_change(change) for change in outcome.changes]


def _told_change(change: Any) -> Any:
    if isinstance(change, RecordEmbedded):
        return change.namespace, change.record_id, change.created_at, change.model, change.parts.tobytes()
    return change


MORE_THAN_WAIT = 99
"""A limit above the count of records: a store may choose which ones it leaves out, so stories ask for all."""


def questions(query: str) -> dict[str, Question]:
    """All questions that a store can be asked."""
    asked: dict[str, Question] = {
        "buffers": lambda store: store.list_buffers(),
        "events": lambda store: store.list_events(namespace=None, limit=3, cursor=None),
        "projects": lambda store: store.list_projects(),
        "records": lambda store: store.list_memory_records(namespace=None, limit=3, offset=1),
        "features": lambda store: store.get_ranking_features(RECORD_IDS[::-1]),
        "records by id": lambda store: store.get_memory_records(RECORD_IDS[::-1]),
        "stats": lambda store: store.get_stats(None),
        "unembedded": lambda store: store.list_unembedded(MORE_THAN_WAIT),
        "unembedded but for one project": lambda store: store.list_unembedded(MORE_THAN_WAIT, leave_out=NAMESPACES[:1]),
        "vectors": lambda store: store.count_embeddings(None),
        "models": lambda store: store.get_models(),
        "behind": lambda store: store.list_behind(3),
        "embedded again": lambda store: store.count_reembedded(),
        "parked clusters": lambda store: store.list_parked_clusters(None),
        "usage": lambda store: store.list_llm_usage(since=DAYS[0]),
        "usage of late": lambda store: store.list_llm_usage(since=DAYS[1]),
        "told": lambda store: store.list_told(),
    }
    for record_id in RECORD_IDS:
        asked |= {f"{HISTORY} of {record_id}": _history_of(record_id)}
    for namespace in NAMESPACES:
        asked |= questions_about(namespace, query)
    return asked


def questions_about(namespace: Any, query: str) -> dict[str, Question]:
    """All questions that a store can be asked about one namespace."""
    params = SearchParams(namespace, query, limit=4, term_cap=3, with_neighbors=True)

    async def vectors(store: StorageBackend) -> Any:
        table = await store.list_embeddings(namespace)
        return table.record_ids, table.created_ats, table.row_counts, table.model, table.vectors.tobytes()

    return {
        f"buffer size of {namespace}": lambda store: store.get_buffer_size(namespace),
        f"buffer of {namespace}": lambda store: store.snapshot_buffer(namespace, most_bytes=12),
        f"events again of {namespace}": lambda store: store.snapshot_events(
            namespace, since=START + timedelta(minutes=2), after=None, most_bytes=120
        ),
        f"later events of {namespace}": lambda store: _events_after_the_third(store, namespace),
        f"parked clusters of {namespace}": lambda store: store.list_parked_clusters(namespace),
        f"events of {namespace}": lambda store: store.list_events(namespace=namespace, limit=2, cursor=None),
        f"records of {namespace}": lambda store: store.list_memory_records(namespace=namespace, limit=2, offset=0),
        f"stats of {namespace}": lambda store: store.get_stats(namespace),
        f"counts of {namespace}": lambda store: store.count_embeddings(namespace),
        f"vectors of {namespace}": vectors,
        f"words in {namespace}": lambda store: store.rank_by_words(params),
        f"found in {namespace}": lambda store: search_records(store, params),
        f"matching in {namespace}": lambda store: store.search_syntax(
            SyntaxSearch(namespace=namespace, expression=compile_query(query), limit=4)
        ),
        f"newest of {namespace}": lambda store: store.list_records(RecordQuery(namespace=namespace, limit=3)),
        f"older of {namespace}": lambda store: store.list_records(
            RecordQuery(namespace=namespace, limit=3, before=MIDDLE, filter=RecordFilter(types=("file-write",)))
        ),
        f"knowledge of {namespace}": lambda store: store.list_records(
            RecordQuery(namespace=namespace, limit=3, only_knowledge=True)
        ),
        f"pinned of {namespace}": lambda store: store.list_records(
            RecordQuery(namespace=namespace, limit=3, filter=RecordFilter(is_pinned=True))
        ),
        f"newer of {namespace}": lambda store: store.list_records_after(namespace, MIDDLE, limit=3),
        f"checkpoint of {namespace}": lambda store: store.get_checkpoint(namespace, "s"),
        f"sessions of {namespace}": lambda store: store.list_sessions(namespace, limit=3),
        f"activity of {namespace}": lambda store: store.get_activity(namespace, since=MIDDLE[0]),
        f"economics of {namespace}": lambda store: store.get_token_economics(namespace),
        f"expirable of {namespace}": lambda store: store.list_expirable(_old_events(namespace), limit=3),
        f"expirable amount of {namespace}": lambda store: store.count_expirable(_old_events(namespace)),
        f"distillable of {namespace}": lambda store: store.list_distillable(
            RecordAge(namespace=namespace, before=MIDDLE[0], notable_before=START + timedelta(minutes=2)),
            after=None,
            limit=3,
        ),
        f"{HISTORY} by age of {namespace}": lambda store: store.count_replaced(namespace, before=MIDDLE[0]),
    }


def _old_events(namespace: Any) -> EventAge:
    return EventAge(namespace=namespace, before=MIDDLE[0], important_before=START + timedelta(minutes=1))


def _history_of(record_id: RecordId) -> Question:
    return lambda store: store.list_replacements(record_id)


async def _events_after_the_third(store: StorageBackend, namespace: Any) -> Any:
    try:
        return await store.snapshot_events(namespace, since=None, after=EVENT_IDS[2], most_bytes=120)
    except InvalidRequest as error:
        return str(error)


async def answers(store: StorageBackend, asked: dict[str, Question]) -> dict[str, Any]:
    return {name: await question(store) for name, question in asked.items()}
