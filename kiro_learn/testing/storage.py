"""A store without a file: the contract of ``StorageBackend``, kept in dicts, on the caller's thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime
from pathlib import PurePath
from typing import Any, TypeVar

import trio

from kiro_learn.errors import KiroLearnError, StorageUnavailable
from kiro_learn.model.buffer import BufferSize, BufferSnapshot
from kiro_learn.model.embedding_model import BUNDLED_MODEL, ModelIdentity, ModelsInUse, ReembeddingCounts
from kiro_learn.model.event import Event
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.ranking_features import RankingFeatures
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts, ProjectInfo, Stats
from kiro_learn.model.told import ToldItem
from kiro_learn.model.usage import LlmUsage
from kiro_learn.model.vectors import Codes
from kiro_learn.ports.storage.answers import EmbeddingTable, EventPage, LexicalRanking, RecordPage, SearchParams
from kiro_learn.ports.storage.changes import Committed, Outcome, Refused
from kiro_learn.ports.storage.interface import Work
from kiro_learn.testing import memory_buffer, memory_embeddings, memory_history, memory_reads
from kiro_learn.testing.memory_graph_access import MemoryGraphReads
from kiro_learn.testing.memory_observations import MemoryObservations
from kiro_learn.testing.memory_retention import MemoryRetentionReads
from kiro_learn.testing.memory_state import State
from kiro_learn.testing.memory_transaction import MemoryTransaction

T = TypeVar("T")


class InMemoryStorage(MemoryObservations, MemoryGraphReads, MemoryRetentionReads):
    """A ``StorageBackend`` for tests. Made late or broken on demand, never by chance."""

    def __init__(self, *, user_home: PurePath | None = None) -> None:
        self.read_gate: trio.Event | None = None
        """While there is one that is not set, reads wait for it."""
        self.write_gate: trio.Event | None = None
        """While there is one that is not set, writes wait for it."""
        self.words_seconds = 0.0
        """Ranking by words takes as long."""
        self.commit_count = 0
        self._state = State()
        self._user_home = user_home
        self._read_errors: list[Exception] = []
        self._write_errors: list[Exception] = []
        self._is_closed = False

    def fail_next_read(self, error: Exception) -> None:
        """Let the next read raise ``error``, after its gate."""
        self._read_errors.append(error)

    def fail_next_write(self, error: Exception) -> None:
        """Let the next batch of writing raise ``error``, after its gate, with nothing changed."""
        self._write_errors.append(error)

    def damage_words(self, namespace: Namespace) -> None:
        """Let the index of a project's words be damaged, until it is rebuilt."""
        self._state = self._state.copy()
        self._state.damaged_words.add(namespace)

    def damage_row(self, row_id: str) -> None:
        """Let a row be damaged: an event's, or a record's."""
        self._state = self._state.copy()
        self._state.damaged_rows.add(row_id)

    def copied(self) -> InMemoryStorage:
        """A store with what is committed here right now, as a disk would hold it if the power went."""
        copied = InMemoryStorage(user_home=self._user_home)
        copied._state = self._state  # every commit puts another in its place
        return copied

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        await self._pass(self.write_gate, self._write_errors)
        self._state, outcomes = run_together(self._state, works)
        self.commit_count += 1
        return outcomes

    async def get_event_by_id(self, event_id: EventId) -> Event | None:
        return (await self._read()).events.get(event_id)

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        return memory_reads.get_memory_records(await self._read(), record_ids)

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        if self.words_seconds:
            await trio.sleep(self.words_seconds)
        return memory_reads.rank_by_words(await self._read(), params)

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        return memory_reads.get_ranking_features(await self._read(), record_ids)

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        return memory_embeddings.list_embeddings(await self._read(), namespace)

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        return memory_embeddings.list_unembedded(await self._read(), limit, leave_out)

    async def get_models(self) -> ModelsInUse:
        return memory_embeddings.get_models(await self._read())

    async def list_behind(self, limit: int) -> list[MemoryRecord]:
        return memory_embeddings.list_behind(await self._read(), limit)

    async def count_reembedded(self) -> ReembeddingCounts:
        return memory_embeddings.count_reembedded(await self._read())

    async def list_without_passages(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        return memory_embeddings.list_without_passages(await self._read(), limit, leave_out)

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        return memory_embeddings.get_passages(await self._read(), record_ids, model)

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts:
        return memory_embeddings.count_embeddings(await self._read(), namespace)

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        return memory_buffer.snapshot_buffer(await self._read(), namespace, most_bytes=most_bytes)

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        return memory_buffer.get_buffer_size(await self._read(), namespace)

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        return memory_buffer.list_buffers(await self._read())

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        state = await self._read()
        return memory_buffer.snapshot_events(state, namespace, since=since, after=after, most_bytes=most_bytes)

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        return memory_history.list_replacements(await self._read(), record_id)

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        return memory_reads.list_parked_clusters(await self._read(), namespace)

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        return memory_reads.list_llm_usage(await self._read(), since=since)

    async def list_runs(self, limit: int) -> list[LearningRun]:
        runs = (await self._read()).runs.values()
        return sorted(runs, key=lambda run: (run.started_at, run.run_id), reverse=True)[:limit]

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        return memory_reads.get_stats(await self._read(), namespace)

    async def list_projects(self) -> list[ProjectInfo]:
        return memory_reads.list_projects(await self._read(), user_home=self._user_home)

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        return memory_reads.list_memory_records(await self._read(), namespace=namespace, limit=limit, offset=offset)

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        return memory_reads.list_events(await self._read(), namespace=namespace, limit=limit, cursor=cursor)

    async def list_damaged(self) -> tuple[str, ...]:
        return tuple(sorted((await self._read()).damaged_rows))

    async def get_hook_session(self, key: str) -> str | None:
        return (await self._read()).hook_sessions.get(key)

    async def list_told(self) -> list[ToldItem]:
        return memory_reads.list_told(await self._read())

    async def erase_forgotten(self) -> None:
        await self._read()

    async def close(self) -> None:
        self._is_closed = True
        await trio.lowlevel.checkpoint()

    async def _read(self) -> State:
        await self._pass(self.read_gate, self._read_errors)
        return self._state

    async def _pass(self, gate: trio.Event | None, errors: list[Exception]) -> None:
        await trio.lowlevel.checkpoint()
        if self._is_closed:
            raise StorageUnavailable("in memory", hint="It was closed.")
        if gate is not None:
            await gate.wait()
        if errors:
            raise errors.pop(0)


def run_together(state: State, works: Sequence[Work[Any]]) -> tuple[State, list[Outcome]]:
    """The state after ``works``, without those that raised one of our own errors."""
    outcomes: list[Outcome] = []
    for work in works:
        transaction = MemoryTransaction(state.copy())
        try:
            value = work(transaction)
        except KiroLearnError as error:
            outcomes.append(Refused(error))
        else:
            outcomes.append(Committed(value, tuple(transaction.changes)))
            state = transaction.state
    return state, outcomes
