"""Keeps the vector indexes of the namespaces in use, in step with every commit, and lets go of the others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial

import attrs
import numpy as np
import structlog
import trio

from kiro_learn.actors.offload import Offload
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.ranking.vector_codes import CodeProduct, multiply_codes
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking
from kiro_learn.storage.interface import Change, EmbeddingTable, RecordEmbedded, RecordRemoved, StorageBackend
from kiro_learn.vectors import Vector

log = structlog.get_logger()

ROWS_WORTH_A_THREAD = 4_000
"""Scanning fewer rows takes under a millisecond, about what a thread costs (docs/benchmarks.md)."""

MOST_DEAD = 0.25
"""Share of rows without a record above which a search has the index written anew, so as not to read too much."""

TOO_DEAD_TO_KEEP = 0.5
"""Share above which an index that nobody searches is let go of."""


@attrs.define(eq=False)
class _Loading:
    """An index that is being read, and what was committed meanwhile."""

    done: trio.Event = attrs.Factory(trio.Event)
    changes: list[Change] = attrs.Factory(list)


class VectorIndexes:
    """One immutable index a namespace; a change puts the next generation in its place."""

    def __init__(
        self,
        storage: StorageBackend,
        *,
        most_namespaces: int,
        offload: Offload,
        product: CodeProduct = multiply_codes,
    ) -> None:
        self._storage = storage
        self._most_namespaces = most_namespaces
        self._offload = offload
        self._product = product
        self._indexes: OrderedDict[Namespace, VectorIndex] = OrderedDict()
        self._loading: dict[Namespace, _Loading] = {}

    async def rank(
        self, namespace: Namespace, query: Vector, limit: int, *, wholes_only: bool = False
    ) -> VectorRanking:
        """The records nearest to ``query`` among all that were committed before the call.

        ``wholes_only``: as if no record had more than its first vector.

        Raises:
          StorageError: the index was not in memory and could not be read.
        """
        index = await self._index_of(namespace)
        rank = partial(index.rank, query, limit, wholes_only=wholes_only, product=self._product)
        return rank() if index.row_count < ROWS_WORTH_A_THREAD else await self._offload(rank)

    def apply(self, change: Change) -> None:
        """Follow a commit. A namespace that is not in memory is left to whoever reads it next."""
        if change.namespace in self._loading:
            self._loading[change.namespace].changes.append(change)
        if change.namespace in self._indexes:
            index = self._indexes[change.namespace] = _after(self._indexes[change.namespace], change)
            if index.dead_share > TOO_DEAD_TO_KEEP:
                del self._indexes[change.namespace]

    def statistics(self) -> dict[Namespace, int]:
        """Records in memory by namespace, the one used longest ago first."""
        return {namespace: len(index) for namespace, index in self._indexes.items()}

    async def _index_of(self, namespace: Namespace) -> VectorIndex:
        while namespace not in self._indexes:
            if namespace in self._loading:
                await self._loading[namespace].done.wait()
            else:
                await self._renew(namespace, lambda: self._load(namespace))
        self._indexes.move_to_end(namespace)
        index = self._indexes[namespace]
        if index.dead_share > MOST_DEAD and namespace not in self._loading:
            return await self._renew(namespace, lambda: self._offload(index.compacted))
        return index

    async def _load(self, namespace: Namespace) -> VectorIndex:
        table = await self._storage.list_embeddings(namespace)
        index, broken = await self._offload(lambda: (_index_from(table), _not_finite(table)))
        for record_id in broken:
            log.warning("vector_index.vector_not_finite", record_id=record_id)
        return index

    async def _renew(self, namespace: Namespace, make: Callable[[], Awaitable[VectorIndex]]) -> VectorIndex:
        """Put what ``make`` makes into the index's place, with what was committed meanwhile.

        Some of that may be in what was made already; doing it again is harmless.
        """
        loading = self._loading[namespace] = _Loading()
        try:
            index = await make()
            for change in loading.changes:
                index = _after(index, change)
            self._indexes[namespace] = index
            while len(self._indexes) > self._most_namespaces:
                self._indexes.popitem(last=False)
            return index
        finally:
            del self._loading[namespace]
            loading.done.set()


def _index_from(table: EmbeddingTable) -> VectorIndex:
    return VectorIndex.of(table.record_ids, table.created_ats, table.vectors, table.row_counts)


def _not_finite(table: EmbeddingTable) -> list[RecordId]:
    """The records with a vector that nothing can be near to."""
    broken = ~np.isfinite(table.vectors).all(axis=1)
    owners = np.repeat(np.arange(len(table.record_ids)), table.row_counts)
    return [table.record_ids[owner] for owner in np.unique(owners[broken]).tolist()]


def _after(index: VectorIndex, change: Change) -> VectorIndex:
    if isinstance(change, RecordEmbedded):
        return index.with_record(change.record_id, change.created_at, change.parts)
    if isinstance(change, RecordRemoved):
        return index.without(change.record_id)
    return index
