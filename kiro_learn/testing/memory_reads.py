"""What ``InMemoryStorage`` answers, as functions of its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import PurePath

from kiro_learn.model.cursors import cursor_after, place_of
from kiro_learn.model.deduplication import content_hash
from kiro_learn.model.display_name import EVENTS_WITH_FOLDER, display_name
from kiro_learn.model.event import Event
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.indexed_text import indexed_columns
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.ranking_features import RankingFeatures
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.model.statistics import ProjectInfo, Stats
from kiro_learn.model.told import ToldItem
from kiro_learn.model.usage import LlmUsage
from kiro_learn.ports.storage.answers import NEIGHBOR_DISTANCE, EventPage, LexicalRanking, RecordPage, SearchParams
from kiro_learn.retrieval.query.terms import cap, ideal_score, terms
from kiro_learn.retrieval.ranking.containment import rank_by_containment
from kiro_learn.testing.memory_state import State
from kiro_learn.testing.word_index import WordIndex


def get_memory_records(state: State, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
    there = state.records.keys() - state.damaged_rows
    return [state.records[record_id] for record_id in record_ids if record_id in there]


def find_duplicate(
    state: State, namespace: Namespace, digest: str, *, after: datetime, before: datetime
) -> RecordId | None:
    same = (record for record in state.records_of(namespace) if content_hash(record) == digest)
    found = newest_first(record for record in same if after < record.created_at < before)
    return found[0].record_id if found else None


def list_memory_records(state: State, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
    records = newest_first(state.records_of(namespace))
    page = records[offset : offset + limit]
    damaged = tuple(record.record_id for record in page if record.record_id in state.damaged_rows)
    items = tuple(record for record in page if record.record_id not in state.damaged_rows)
    return RecordPage(items, len(records), damaged)


def get_ranking_features(state: State, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
    return {record.record_id: _features(state, record) for record in get_memory_records(state, record_ids)}


def _features(state: State, record: MemoryRecord) -> RankingFeatures:
    text = "\n".join((record.title, record.summary, *record.facts, *record.concepts)).lower()
    event = state.events.get(record.source_event_ids[0])
    if event is None or event.namespace != record.namespace:
        return RankingFeatures(text)
    return RankingFeatures(text, event.session_id, event.valid_time)


def rank_by_words(state: State, params: SearchParams) -> LexicalRanking:
    words = terms(params.query)
    records = {record.record_id: record for record in state.records_of(params.namespace)}
    if not words or not records or params.limit <= 0:
        return LexicalRanking((), 0.0)
    is_damaged = params.namespace in state.damaged_words
    if is_damaged or any("\0" in word for word in words):  # as FTS5 refuses them
        texts = [
            (Hit(key, record.created_at, 0.0), "\n".join(indexed_columns(record))) for key, record in records.items()
        ]
        found = rank_by_containment(texts, words, most=params.term_cap, limit=params.limit)
        return LexicalRanking(found.hits, found.ideal_score, found.words, is_index_damaged=is_damaged)
    index = WordIndex.of(records.values())
    kept = cap(words, index.document_frequency, most=params.term_cap)
    ideal = ideal_score(map(index.document_frequency, kept), len(records))
    hits = _best(records, index.scores(kept), params.limit)
    pairs = index.neighbor_scores(kept, distance=NEIGHBOR_DISTANCE) if params.with_neighbors else {}
    return LexicalRanking(
        hits,
        ideal_score=ideal,
        terms=kept,
        neighbors=_best(
            records, {hit.record_id: pairs[hit.record_id] for hit in hits if hit.record_id in pairs}, params.limit
        ),
    )


def _best(records: dict[RecordId, MemoryRecord], scores: dict[RecordId, float], limit: int) -> tuple[Hit, ...]:
    hits = [Hit(record_id, records[record_id].created_at, scores[record_id]) for record_id in sorted(scores)]
    return tuple(sorted(hits, key=lambda hit: (hit.score, hit.created_at), reverse=True)[:limit])


def list_events(state: State, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
    events = sorted(state.events_of(namespace), key=lambda event: (event.valid_time, event.event_id), reverse=True)
    rest = events
    if cursor is not None:
        place = place_of(cursor)
        rest = [event for event in events if (event.valid_time, event.event_id) < place]
    readable = [event for event in rest if event.event_id not in state.damaged_rows]
    items = tuple(readable[:limit])
    passed = rest[: rest.index(items[-1])] if len(readable) > limit else rest
    damaged = tuple(event.event_id for event in passed if event.event_id in state.damaged_rows)
    cursor_next = cursor_after(items[-1]) if items and len(readable) > limit else None
    return EventPage(items, len(events), cursor_next, damaged)


def list_parked_clusters(state: State, namespace: Namespace | None) -> list[ParkedCluster]:
    clusters = sorted(state.parked_clusters.values(), key=lambda cluster: cluster.cluster_id)
    return [cluster for cluster in clusters if namespace in {None, cluster.namespace}]


def list_llm_usage(state: State, *, since: date) -> list[LlmUsage]:
    return [usage for (day, _namespace), usage in sorted(state.llm_usage.items()) if day >= since]


def get_stats(state: State, namespace: Namespace | None) -> Stats:
    events, records = state.events_of(namespace), state.records_of(namespace)
    return Stats(
        total_events=len(events),
        total_memories=len(records),
        total_projects=len(_namespaces(events, records)),
        total_concepts=len({concept for record in records for concept in record.concepts}),
        observation_types=dict(Counter(record.observation_type.value for record in records)),
        event_kinds=dict(Counter(event.kind.value for event in events)),
    )


def _namespaces(events: Iterable[Event], records: Iterable[MemoryRecord]) -> set[Namespace]:
    return {event.namespace for event in events} | {record.namespace for record in records}


def list_projects(state: State, *, user_home: PurePath | None) -> list[ProjectInfo]:
    namespaces = _namespaces(state.events.values(), state.records.values())
    projects = [_project(state, namespace, user_home) for namespace in namespaces]
    return sorted(projects, key=lambda project: (-project.event_count, project.namespace))


def _project(state: State, namespace: Namespace, user_home: PurePath | None) -> ProjectInfo:
    events = sorted(state.events_of(namespace), key=lambda event: (event.valid_time, event.event_id), reverse=True)
    folders = (event.source.project_path for event in events[:EVENTS_WITH_FOLDER])
    folder = next((each for each in folders if each is not None), None)
    project_id = project_id_in(namespace)
    return ProjectInfo(
        namespace=namespace,
        project_id=project_id,
        display_name=display_name(project_id, folder, user_home=user_home),
        event_count=len(events),
        memory_count=len(state.records_of(namespace)),
        last_event_at=events[0].valid_time if events else None,
    )


def list_told(state: State) -> list[ToldItem]:
    return [
        ToldItem(namespace=namespace, session_id=session_id, item_id=item_id, prompt_number=prompt_number)
        for (namespace, session_id, item_id), prompt_number in state.told.items()
    ]
