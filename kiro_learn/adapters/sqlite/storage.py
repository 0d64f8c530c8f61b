"""The store on SQLite: every method of the contract, each delegating to the module that does it."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from datetime import date, datetime
from pathlib import PurePath
from typing import Any, TypeVar

import trio

from kiro_learn.adapters.sqlite import (
    buffer_reads,
    embedding_reads,
    event_reads,
    history_reads,
    record_reads,
    search,
    session_told,
    statistics,
)
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.feature_cache import RankingFeatureCache
from kiro_learn.adapters.sqlite.forgetting_reads import ForgettingReads
from kiro_learn.adapters.sqlite.graph_reads import GraphReads
from kiro_learn.adapters.sqlite.observation_reads import ObservationReads
from kiro_learn.adapters.sqlite.readers import Readers
from kiro_learn.adapters.sqlite.retention_reads import RetentionReads
from kiro_learn.adapters.sqlite.word_indexes import WordIndexes
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.model.buffer import BufferSize, BufferSnapshot, LearningRun, ParkedCluster
from kiro_learn.model.embedding_model import BUNDLED_MODEL, ModelIdentity, ModelsInUse, ReembeddingCounts
from kiro_learn.model.event import Event
from kiro_learn.model.history import Replacement
from kiro_learn.model.hit import RankingFeatures
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts, LlmUsage, ProjectInfo, Stats
from kiro_learn.model.told import ToldItem
from kiro_learn.model.vectors import Codes
from kiro_learn.ports.storage.answers import EmbeddingTable, EventPage, LexicalRanking, RecordPage, SearchParams
from kiro_learn.ports.storage.changes import Committed, Outcome, RecordRemoved
from kiro_learn.ports.storage.interface import Work

T = TypeVar("T")


class SqliteStorage(ObservationReads, GraphReads, RetentionReads, ForgettingReads):
    """A ``StorageBackend`` in one file. Made by ``open_sqlite_storage``."""

    def __init__(self, writer: Writer, readers: Readers, *, user_home: PurePath | None) -> None:
        self._writer = writer
        self._readers = readers
        self._user_home = user_home
        self._words = WordIndexes()
        self._damaged = DamagedRows()
        self._ranking_features = RankingFeatureCache(self._damaged)

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        outcomes = await self._writer.transact(works)
        changes = (change for outcome in outcomes if isinstance(outcome, Committed) for change in outcome.changes)
        removals = [change for change in changes if isinstance(change, RecordRemoved)]
        for namespace in {change.namespace for change in removals}:
            self._words.doubt(namespace)
        if removals:
            self._ranking_features.remove(change.record_id for change in removals)
            self._damaged.remove(change.record_id for change in removals)
        return outcomes

    async def get_event_by_id(self, event_id: EventId) -> Event | None:
        return await self._readers.read(functools.partial(event_reads.get_event_by_id, event_id=event_id))

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        return await self._readers.read(
            functools.partial(record_reads.get_memory_records, record_ids=record_ids, damaged=self._damaged)
        )

    async def find_record_ids(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        query = functools.partial(record_reads.find_record_ids, namespace=namespace, ending=ending, limit=limit)
        return await self._readers.read(query)

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        return await self._readers.read(functools.partial(search.rank_by_words, params=params, indexes=self._words))

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        return await self._readers.read(functools.partial(self._ranking_features.read, record_ids=record_ids))

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        query = functools.partial(embedding_reads.list_embeddings, namespace=namespace, damaged=self._damaged)
        return await self._readers.read(query)

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        query = functools.partial(
            embedding_reads.list_unembedded, limit=limit, leave_out=leave_out, damaged=self._damaged
        )
        return await self._readers.read(query)

    async def list_without_passages(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        query = functools.partial(
            embedding_reads.list_without_passages, limit=limit, leave_out=leave_out, damaged=self._damaged
        )
        return await self._readers.read(query)

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        query = functools.partial(embedding_reads.get_passages, record_ids=record_ids, model=model)
        return await self._readers.read(query)

    async def get_models(self) -> ModelsInUse:
        return await self._readers.read(embedding_reads.get_models)

    async def list_behind(self, limit: int) -> list[MemoryRecord]:
        query = functools.partial(embedding_reads.list_behind, limit=limit, damaged=self._damaged)
        return await self._readers.read(query)

    async def count_reembedded(self) -> ReembeddingCounts:
        return await self._readers.read(embedding_reads.count_reembedded)

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts:
        return await self._readers.read(functools.partial(embedding_reads.count_embeddings, namespace=namespace))

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        query = functools.partial(
            buffer_reads.snapshot_buffer, namespace=namespace, most_bytes=most_bytes, damaged=self._damaged
        )
        return await self._readers.read(query)

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        return await self._readers.read(functools.partial(buffer_reads.get_buffer_size, namespace=namespace))

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        return await self._readers.read(buffer_reads.list_buffers)

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        query = functools.partial(
            buffer_reads.snapshot_events,
            namespace=namespace,
            since=since,
            after=after,
            most_bytes=most_bytes,
            damaged=self._damaged,
        )
        return await self._readers.read(query)

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        return await self._readers.read(
            functools.partial(history_reads.list_replacements, record_id=record_id, damaged=self._damaged)
        )

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        return await self._readers.read(
            functools.partial(statistics.list_parked_clusters, namespace=namespace, damaged=self._damaged)
        )

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        return await self._readers.read(
            functools.partial(statistics.list_llm_usage, since=since, damaged=self._damaged)
        )

    async def list_runs(self, limit: int) -> list[LearningRun]:
        return await self._readers.read(functools.partial(statistics.list_runs, limit=limit, damaged=self._damaged))

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        return await self._readers.read(functools.partial(statistics.get_stats, namespace=namespace))

    async def list_projects(self) -> list[ProjectInfo]:
        return await self._readers.read(functools.partial(statistics.list_projects, user_home=self._user_home))

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        query = functools.partial(
            record_reads.list_memory_records, namespace=namespace, limit=limit, offset=offset, damaged=self._damaged
        )
        return await self._readers.read(query)

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        query = functools.partial(
            event_reads.list_events, namespace=namespace, limit=limit, cursor=cursor, damaged=self._damaged
        )
        return await self._readers.read(query)

    async def list_damaged(self) -> tuple[str, ...]:
        await trio.lowlevel.checkpoint()
        return self._damaged.ids()

    async def get_hook_session(self, key: str) -> str | None:
        return await self._readers.read(functools.partial(statistics.get_hook_session, key=key))

    async def list_told(self) -> list[ToldItem]:
        return await self._readers.read(session_told.list_told)

    async def erase_forgotten(self) -> bool:
        return await self._writer.erase_forgotten()

    async def close(self) -> None:
        """Shielded: a cancelled close would leave a write-ahead log that is not merged into the file."""
        with trio.CancelScope(shield=True):
            await self._readers.close()
            await self._writer.close()
