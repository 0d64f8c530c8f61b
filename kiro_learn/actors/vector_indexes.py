"""Keeps the vector indexes of the namespaces in use, applies every commit to them, and evicts the others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import attrs
import numpy as np
import structlog
import trio

from kiro_learn.errors import ActorStopped, EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import BUNDLED_MODEL, DIMENSION, CodeProduct, ModelIdentity, Vector
from kiro_learn.ports.storage.answers import (
    Change,
    EmbeddingTable,
    GraphChanged,
    ModelSwitched,
    RecordEmbedded,
    RecordRemoved,
)
from kiro_learn.ports.storage.embeddings import EmbeddingReads
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking, eviction_count, expected_bytes
from kiro_learn.retrieval.ranking.vector_rows import multiply_codes
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import Stop, catch_errors

log = structlog.get_logger()

ROWS_WORTH_A_THREAD = 4_000
"""Scanning fewer rows takes under a millisecond, about what a thread costs (docs/benchmarks.md)."""

COMPACTION_DEAD_SHARE = 0.25
"""Share of rows without a record above which a search asks for a compacted index, which has fewer rows to scan."""

EVICTION_DEAD_SHARE = 0.5
"""The share above which a commit evicts an index, which is then not compacted; the next search reads it again."""

MOST_PENDING = 1_000
"""The bound of the inbox: far more indexes than ever wait to be read at once."""

READING_AT_ONCE = 2
"""Indexes that are read at once: two, so that a small one does not wait for a large one."""


T = TypeVar("T")


@attrs.define(eq=False)
class _PendingIndex:
    """An index that is to be read or compacted, and the changes that were committed meanwhile."""

    done: trio.Event = attrs.Factory(trio.Event)
    changes: list[Change] = attrs.Factory(list)
    index: VectorIndex | None = None
    problem: Exception | None = None

    async def wait(self) -> VectorIndex:
        """The index; raises the error if there is none. Cancellation: it is made all the same, for the next caller."""
        await self.done.wait()
        if self.index is None:
            raise self.problem or ActorStopped(VectorIndexes.name)
        return self.index


class VectorIndexes:
    """Owns one immutable vector index for each namespace in use; a change replaces it by the next generation.

    An index that is not in memory is read in the background. A prompt waits for it up to its deadline; the reading
    goes on after that, for the next prompt.
    """

    name = "vector indexes"

    def __init__(
        self,
        storage: EmbeddingReads,
        *,
        most_bytes: int,
        offload: Offload,
        product: CodeProduct = multiply_codes,
    ) -> None:
        self._storage = storage
        self._most_bytes = most_bytes
        self._offload = offload
        self._building = trio.Lock()
        self._product = product
        self._indexes: OrderedDict[Namespace, VectorIndex] = OrderedDict()
        self._pending: dict[Namespace, _PendingIndex] = {}
        self._inbox, self._mail = trio.open_memory_channel[Namespace](MOST_PENDING)
        self._stop = Stop()

    async def rank(
        self,
        namespace: Namespace,
        query: Vector,
        limit: int,
        *,
        wholes_only: bool = False,
        model: ModelIdentity = BUNDLED_MODEL,
    ) -> VectorRanking:
        """See ``NearestRecords.rank``."""
        index = await self._index_of(namespace)
        if index.model != model:
            raise EmbeddingError(f"the project has just changed to the embedding model {index.model.name}")
        rank = partial(index.rank, query, limit, wholes_only=wholes_only, product=self._product)
        return rank() if index.row_count < ROWS_WORTH_A_THREAD else await self._offload(rank)

    def apply(self, change: Change) -> None:
        """Follow a commit. A namespace that is not in memory is read by its next search."""
        if isinstance(change, GraphChanged):
            return
        if change.namespace in self._pending:
            self._pending[change.namespace].changes.append(change)
        if isinstance(change, ModelSwitched):
            self._follow_switch(change)
        elif change.namespace in self._indexes:
            index = self._indexes[change.namespace] = _after(self._indexes[change.namespace], change)
            if index.dead_share > EVICTION_DEAD_SHARE:
                del self._indexes[change.namespace]

    def _follow_switch(self, switch: ModelSwitched) -> None:
        """Evict the index of the earlier model, and ask for the new one before the next search."""
        index = self._indexes.get(switch.namespace)
        if index is not None and index.model != switch.model:
            del self._indexes[switch.namespace]
            with suppress(EmbeddingError, ActorStopped):  # then the next search asks for it
                self._request(switch.namespace)

    def statistics(self) -> dict[Namespace, int]:
        """Records in memory by namespace, least recently used first."""
        return {namespace: len(index) for namespace, index in self._indexes.items()}

    def too_many(self, record_counts: Iterable[int], *, dimension: int = DIMENSION) -> int:
        """How many of the first indexes, with these record counts, would be evicted if all were read."""
        return eviction_count([expected_bytes(count, dimension=dimension) for count in record_counts], self._most_bytes)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            async with trio.open_nursery() as nursery:
                for _ in range(READING_AT_ONCE):
                    nursery.start_soon(self._build_requested)

    def stop(self) -> None:
        self._stop.throw()
        self._inbox.close()

    def abandon(self) -> None:
        """Fail all callers that wait for an index."""
        self.stop()
        for pending in self._pending.values():
            pending.done.set()

    async def _index_of(self, namespace: Namespace) -> VectorIndex:
        index = self._indexes.get(namespace)
        if index is None:
            return await self._request(namespace).wait()
        self._indexes.move_to_end(namespace)
        if index.dead_share > COMPACTION_DEAD_SHARE:
            with suppress(EmbeddingError, ActorStopped):  # then the next search asks for it
                self._request(namespace)  # this search uses the index as it is
        return index

    def _request(self, namespace: Namespace) -> _PendingIndex:
        """The namespace's pending index, requested now unless it was before.

        Raises:
          ActorStopped: the daemon is stopping.
          EmbeddingError: too many indexes wait already.
        """
        if namespace not in self._pending:
            try:
                self._inbox.send_nowait(namespace)
            except trio.WouldBlock:
                raise EmbeddingError("too many vector indexes wait to be read") from None
            except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
                raise ActorStopped(self.name) from error
            self._pending[namespace] = _PendingIndex()
        return self._pending[namespace]

    async def _build_requested(self) -> None:
        async for namespace in self._mail:
            await self._build_index(namespace, self._pending[namespace])

    async def _build_index(self, namespace: Namespace, pending: _PendingIndex) -> None:
        """Make the index, apply the changes that were committed meanwhile, and put it in memory.

        The index may have some of these changes already; applying one twice is harmless.
        """
        try:
            made = await catch_errors(self.name, partial(self._make, namespace))
            while not isinstance(made, Exception) and _has_outdated_model(made, pending.changes):
                pending.changes.clear()
                made = await catch_errors(self.name, partial(self._make, namespace))
            if isinstance(made, Exception):
                pending.problem = made
                return
            for change in pending.changes:
                made = _after(made, change)
            pending.index = self._indexes[namespace] = made
            self._indexes.move_to_end(namespace)
            self._evict()
        finally:
            del self._pending[namespace]
            pending.done.set()

    async def _make(self, namespace: Namespace) -> VectorIndex:
        index = self._indexes.get(namespace)
        if index is not None:
            return await self._build(index.compacted)
        table = await self._storage.list_embeddings(namespace)
        made, broken = await self._build(lambda: (_index_from(table), _not_finite(table)))
        for record_id in broken:
            log.warning("vector_index.vector_not_finite", record_id=record_id)
        return made

    async def _build(self, build: Callable[[], T]) -> T:
        """Run ``build`` in a thread, one at a time: it takes a third of a second, and searches need threads too."""
        async with self._building:
            return await self._offload(build)

    def _evict(self) -> None:
        """Evict the least recently used indexes until the others fit."""
        for _ in range(eviction_count([index.size_bytes for index in self._indexes.values()], self._most_bytes)):
            self._indexes.popitem(last=False)


def _index_from(table: EmbeddingTable) -> VectorIndex:
    return VectorIndex.of(table.record_ids, table.created_ats, table.vectors, table.row_counts, model=table.model)


def _not_finite(table: EmbeddingTable) -> list[RecordId]:
    """The records with a vector that has a component which is not finite."""
    broken = ~np.isfinite(table.vectors).all(axis=1)
    owners = np.repeat(np.arange(len(table.record_ids)), table.row_counts)
    return [table.record_ids[owner] for owner in np.unique(owners[broken]).tolist()]


def _has_outdated_model(index: VectorIndex, changes: Iterable[Change]) -> bool:
    """Whether the namespace was switched to another model while the index was being made."""
    return any(isinstance(change, ModelSwitched) and change.model != index.model for change in changes)


def _after(index: VectorIndex, change: Change) -> VectorIndex:
    if isinstance(change, RecordEmbedded) and change.model == index.model:
        return index.with_record(change.record_id, change.created_at, change.parts)
    if isinstance(change, RecordRemoved):
        return index.without(change.record_id)
    return index
