"""The store in SQL: each method of the contract delegates to a function of another module."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import PurePath
from typing import Any, TypeVar

import trio

from kiro_learn.adapters.sqlite import (
    buffers,
    embeddings,
    eraser,
    forgetting,
    graph_reads,
    history,
    merging,
    observation_reads,
    records,
    retention,
    search,
    sessions,
    statistics,
)
from kiro_learn.adapters.sqlite.connections import Readers, reading, reading_sound
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.export import SqliteReading
from kiro_learn.adapters.sqlite.records import RankingFeatureCache
from kiro_learn.adapters.sqlite.search import WordIndexes
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import LexicalRanking, RankingFeatures
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.storage.answers import Change, Committed, Outcome, RecordRemoved, SearchParams
from kiro_learn.ports.storage.interface import Work
from kiro_learn.retrieval.kept_texts import forget_texts

T = TypeVar("T")


class SqlStorage:
    """A ``StorageBackend`` over any connections that take the statements of this folder."""

    def __init__(self, writer: Writer, readers: Readers, *, user_home: PurePath | None) -> None:
        self._writer = writer
        self.readers = readers
        self._user_home = user_home
        self._words = WordIndexes()
        self.damaged = DamagedRows()
        self._ranking_features = RankingFeatureCache(self.damaged)

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        outcomes = await self._writer.transact(works)
        self._note(change for outcome in outcomes if isinstance(outcome, Committed) for change in outcome.changes)
        return outcomes

    def _note(self, changes: Iterable[Change]) -> None:
        """Update what is kept in memory after a commit."""
        removals = [change for change in changes if isinstance(change, RecordRemoved)]
        for namespace in {change.namespace for change in removals}:
            self._words.doubt(namespace)
        if removals:
            self._ranking_features.remove(change.record_id for change in removals)
            self.damaged.remove(change.record_id for change in removals)

    get_event_by_id = reading(sessions.get_event_by_id)
    list_events = reading_sound(sessions.list_events)
    list_teachers = reading(sessions.list_teachers)

    get_memory_records = reading_sound(records.get_memory_records)
    find_record_ids = reading(records.find_record_ids)
    list_memory_records = reading_sound(records.list_memory_records)
    list_replacements = reading_sound(history.list_replacements)
    find_successors = reading(history.find_successors)

    list_embeddings = reading_sound(embeddings.list_embeddings)
    list_unembedded = reading_sound(embeddings.list_unembedded)
    list_without_passages = reading_sound(embeddings.list_without_passages)
    get_passages = reading(embeddings.get_passages)
    get_models = reading(embeddings.get_models)
    list_behind = reading_sound(embeddings.list_behind)
    count_reembedded = reading(embeddings.count_reembedded)
    count_embeddings = reading(embeddings.count_embeddings)

    snapshot_buffer = reading_sound(buffers.snapshot_buffer)
    get_buffer_size = reading(buffers.get_buffer_size)
    list_buffers = reading(buffers.list_buffers)
    snapshot_events = reading_sound(buffers.snapshot_events)

    list_parked_clusters = reading_sound(statistics.list_parked_clusters)
    list_llm_usage = reading_sound(statistics.list_llm_usage)
    list_runs = reading_sound(statistics.list_runs)
    get_stats = reading(statistics.get_stats)
    get_days = reading(statistics.get_days)
    get_project_sizes = reading(statistics.get_project_sizes)
    get_hook_session = reading(sessions.get_hook_session)
    list_told = reading(sessions.list_told)
    list_feedback = reading(records.list_feedback)
    list_pauses = reading(sessions.list_pauses)

    list_sessions = reading(sessions.list_sessions)
    get_session_heads = reading_sound(sessions.get_session_heads)
    list_session_events = reading_sound(sessions.list_session_events)
    get_events = reading_sound(sessions.get_events)
    get_memories_of_events = reading(sessions.get_memories_of_events)
    list_told_sessions = reading(sessions.list_told_sessions)

    search_syntax = reading(observation_reads.search_syntax)
    get_knowledge_ids = reading(observation_reads.get_knowledge_ids)
    get_fitting_ids = reading(observation_reads.get_fitting_ids)
    get_file_digests = reading(observation_reads.get_file_digests)
    list_open_branches = reading(observation_reads.list_open_branches)
    list_records = reading_sound(observation_reads.list_records)
    list_rules_first = reading_sound(observation_reads.list_rules_first)
    list_records_after = reading_sound(observation_reads.list_records_after)
    get_checkpoint = reading_sound(observation_reads.get_checkpoint)
    get_activity = reading(observation_reads.get_activity)
    get_token_economics = reading(observation_reads.get_token_economics)

    search_graph_words = reading(graph_reads.search_words)
    walk_graph = reading_sound(graph_reads.walk_graph)
    list_candidate_facts = reading_sound(graph_reads.list_candidates)
    find_named_entities = reading_sound(graph_reads.find_entities)
    list_graph_items_without_vector = reading_sound(graph_reads.list_without_vector)
    load_graph_vectors = reading_sound(graph_reads.load_vectors)
    get_graph_items = reading_sound(graph_reads.get_items)
    list_graph_items = reading_sound(graph_reads.list_items)
    get_graph_evidence = reading_sound(graph_reads.get_evidence)
    read_graph_picture = reading(graph_reads.read_picture)

    count_expirable = reading(retention.count_expirable)
    list_expirable = reading(retention.list_expirable)
    has_expired = reading(retention.has_expired)
    list_distillable = reading_sound(retention.list_distillable)
    count_replaced = reading(retention.count_replaced)
    get_file_size = reading(eraser.file_size)

    select = reading(forgetting.select)
    has_doomed = reading(forgetting.has_doomed)
    list_forgotten = reading(forgetting.list_forgotten)

    list_merged = reading(merging.list_merged)
    list_project_names = reading(merging.list_project_names)

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        return await self.readers.read(functools.partial(search.rank_by_words, params=params, indexes=self._words))

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        return await self.readers.read(functools.partial(self._ranking_features.read, record_ids=record_ids))

    async def list_projects(self) -> list[ProjectInfo]:
        return await self.readers.read(functools.partial(statistics.list_projects, user_home=self._user_home))

    async def open_reading(self, kinds: Collection[str]) -> SqliteReading:
        return SqliteReading(*await self.readers.open_another(), kinds)

    async def list_damaged(self) -> tuple[str, ...]:
        await trio.lowlevel.checkpoint()
        return self.damaged.ids()

    async def follow_others(self) -> Sequence[Change]:
        await trio.sleep_forever()

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:  # noqa: ARG002  # one daemon has every turn
        return nullcontext(enter_result=True)

    async def erase_forgotten(self) -> bool:
        forget_texts()
        return await self._writer.erase_forgotten()

    async def give_back_space(self) -> None:
        await self._writer.give_back_space()

    async def close(self) -> None:
        """Shielded: a cancelled close would leave a write-ahead log that is not merged into the file."""
        with trio.CancelScope(shield=True):
            await self.readers.close()
            await self._writer.close()


class SqliteStorage(SqlStorage):
    """The store in one file, which only one daemon uses. ``open_sqlite_storage`` makes one."""
