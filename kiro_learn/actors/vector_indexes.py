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
from kiro_learn.model.embedding_model import BUNDLED_MODEL, ModelIdentity
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import DIMENSION, Vector
from kiro_learn.ports.storage.answers import EmbeddingTable
from kiro_learn.ports.storage.changes import Change, GraphChanged, ModelSwitched, RecordEmbedded, RecordRemoved
from kiro_learn.ports.storage.embeddings import EmbeddingReads
from kiro_learn.retrieval.ranking.eviction import to_let_go
from kiro_learn.retrieval.ranking.vector_codes import CodeProduct, multiply_codes
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking, expected_bytes
from kiro_learn.runtime.offload import Offload
from kiro_learn.runtime.stopping import Stop
from kiro_learn.runtime.supervisor import catch_errors

log = structlog.get_logger()

ROWS_WORTH_A_THREAD = 4_000
"""Scanning fewer rows takes under a millisecond, about what a thread costs (docs/benchmarks.md)."""

MOST_DEAD = 0.25
"""Share of rows without a record above which a search has the index written anew, so as not to read too much."""

TOO_DEAD_TO_KEEP = 0.5
"""Share above which an index is evicted on a commit instead of compacted; the next search reads it anew."""

MOST_ORDERS = 1_000
"""Indexes that may wait to be read; more projects than that never ask at once."""

READING_AT_ONCE = 2
"""So that a large index that is being read does not keep a small one waiting."""


T = TypeVar("T")


@attrs.define(eq=False)
class _Order:
    """An index that is to be read or compacted, and the changes that were committed meanwhile."""

    done: trio.Event = attrs.Factory(trio.Event)
    changes: list[Change] = attrs.Factory(list)
    index: VectorIndex | None = None
    problem: Exception | None = None

    async def wait(self) -> VectorIndex:
        """The index, or why there is none. Cancellation: it is made all the same, for the next caller."""
        await self.done.wait()
        if self.index is None:
            raise self.problem or ActorStopped(VectorIndexes.name)
        return self.index


class VectorIndexes:
    """Owns one immutable vector index for each namespace in use; a change replaces it by the next generation.

    An index that is not in memory is read in the background: a prompt waits for it up to its deadline, and reading goes
    on after that for the next one.
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
        self._orders: dict[Namespace, _Order] = {}
        self._inbox, self._mail = trio.open_memory_channel[Namespace](MOST_ORDERS)
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
        if change.namespace in self._orders:
            self._orders[change.namespace].changes.append(change)
        if isinstance(change, ModelSwitched):
            self._read_anew(change)
        elif change.namespace in self._indexes:
            index = self._indexes[change.namespace] = _after(self._indexes[change.namespace], change)
            if index.dead_share > TOO_DEAD_TO_KEEP:
                del self._indexes[change.namespace]

    def _read_anew(self, switch: ModelSwitched) -> None:
        """Evict the vectors of the earlier model, and have the others read for the next search."""
        index = self._indexes.get(switch.namespace)
        if index is not None and index.model != switch.model:
            del self._indexes[switch.namespace]
            with suppress(EmbeddingError, ActorStopped):  # then the next search orders it
                self._order(switch.namespace)

    def statistics(self) -> dict[Namespace, int]:
        """Records in memory by namespace, the one used longest ago first."""
        return {namespace: len(index) for namespace, index in self._indexes.items()}

    def too_many(self, record_counts: Iterable[int], *, dimension: int = DIMENSION) -> int:
        """How many indexes of so many records would not stay in memory, if they were all there is: the first ones."""
        return to_let_go([expected_bytes(count, dimension=dimension) for count in record_counts], self._most_bytes)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            async with trio.open_nursery() as nursery:
                for _ in range(READING_AT_ONCE):
                    nursery.start_soon(self._carry_out_orders)

    def stop(self) -> None:
        self._stop.throw()
        self._inbox.close()

    def abandon(self) -> None:
        """Fail all waiting orders."""
        self.stop()
        for order in self._orders.values():
            order.done.set()

    async def _index_of(self, namespace: Namespace) -> VectorIndex:
        index = self._indexes.get(namespace)
        if index is None:
            return await self._order(namespace).wait()
        self._indexes.move_to_end(namespace)
        if index.dead_share > MOST_DEAD:
            with suppress(EmbeddingError, ActorStopped):  # then the next search orders it
                self._order(namespace)  # this one makes do with what there is
        return index

    def _order(self, namespace: Namespace) -> _Order:
        """The order for the namespace's index, placed now unless it was before.

        Raises:
          ActorStopped: the daemon is going down.
          EmbeddingError: too many wait already.
        """
        if namespace not in self._orders:
            try:
                self._inbox.send_nowait(namespace)
            except trio.WouldBlock:
                raise EmbeddingError("too many vector indexes wait to be read") from None
            except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
                raise ActorStopped(self.name) from error
            self._orders[namespace] = _Order()
        return self._orders[namespace]

    async def _carry_out_orders(self) -> None:
        async for namespace in self._mail:
            await self._carry_out(namespace, self._orders[namespace])

    async def _carry_out(self, namespace: Namespace, order: _Order) -> None:
        """Put the index into its place, with what was committed while it was made.

        Some of that may be in what was made already; doing it again is harmless.
        """
        try:
            made = await catch_errors(self.name, partial(self._make, namespace))
            while not isinstance(made, Exception) and _is_of_before(made, order.changes):
                order.changes.clear()
                made = await catch_errors(self.name, partial(self._make, namespace))
            if isinstance(made, Exception):
                order.problem = made
                return
            for change in order.changes:
                made = _after(made, change)
            order.index = self._indexes[namespace] = made
            self._indexes.move_to_end(namespace)
            self._make_room()
        finally:
            del self._orders[namespace]
            order.done.set()

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
        """One at a time: it takes a third of a second, and the other threads are for those who search."""
        async with self._building:
            return await self._offload(build)

    def _make_room(self) -> None:
        """Evict the indexes used longest ago."""
        for _ in range(to_let_go([index.size_bytes for index in self._indexes.values()], self._most_bytes)):
            self._indexes.popitem(last=False)


def _index_from(table: EmbeddingTable) -> VectorIndex:
    return VectorIndex.of(table.record_ids, table.created_ats, table.vectors, table.row_counts, model=table.model)


def _not_finite(table: EmbeddingTable) -> list[RecordId]:
    """The records with a vector that nothing can be near to."""
    broken = ~np.isfinite(table.vectors).all(axis=1)
    owners = np.repeat(np.arange(len(table.record_ids)), table.row_counts)
    return [table.record_ids[owner] for owner in np.unique(owners[broken]).tolist()]


def _is_of_before(index: VectorIndex, changes: Iterable[Change]) -> bool:
    """Whether the namespace was switched to another model while the index was made."""
    return any(isinstance(change, ModelSwitched) and change.model != index.model for change in changes)


def _after(index: VectorIndex, change: Change) -> VectorIndex:
    if isinstance(change, RecordEmbedded) and change.model == index.model:
        return index.with_record(change.record_id, change.created_at, change.parts)
    if isinstance(change, RecordRemoved):
        return index.without(change.record_id)
    return index
