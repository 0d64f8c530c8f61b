"""Keeps the vector indexes of the namespaces in use, in step with every commit, and lets go of the others."""

from __future__ import annotations

from collections import OrderedDict

import attrs
import trio

from kiro_learn.actors.offload import Offload
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking
from kiro_learn.storage.interface import Change, EmbeddingTable, RecordEmbedded, RecordRemoved, StorageBackend
from kiro_learn.vectors import Vector

ROWS_WORTH_A_THREAD = 4_000
"""Scanning fewer rows takes under a millisecond, about what a thread costs (docs/benchmarks.md)."""


@attrs.define(eq=False)
class _Loading:
    """An index that is being read, and what was committed meanwhile."""

    done: trio.Event = attrs.Factory(trio.Event)
    changes: list[Change] = attrs.Factory(list)


class VectorIndexes:
    """One immutable index a namespace; a change puts the next generation in its place."""

    def __init__(self, storage: StorageBackend, *, most_namespaces: int, offload: Offload) -> None:
        self._storage = storage
        self._most_namespaces = most_namespaces
        self._offload = offload
        self._indexes: OrderedDict[Namespace, VectorIndex] = OrderedDict()
        self._loading: dict[Namespace, _Loading] = {}

    async def rank(self, namespace: Namespace, query: Vector, limit: int) -> VectorRanking:
        """The records nearest to ``query`` among all that were committed before the call.

        Raises:
          StorageError: the index was not in memory and could not be read.
        """
        index = await self._index_of(namespace)
        if len(index) < ROWS_WORTH_A_THREAD:
            return index.rank(query, limit)
        return await self._offload(lambda: index.rank(query, limit))

    def apply(self, change: Change) -> None:
        """Follow a commit. A namespace that is not in memory is left to whoever reads it next."""
        if change.namespace in self._loading:
            self._loading[change.namespace].changes.append(change)
        if change.namespace in self._indexes:
            self._indexes[change.namespace] = _after(self._indexes[change.namespace], change)

    def statistics(self) -> dict[Namespace, int]:
        """Vectors in memory by namespace, the one used longest ago first."""
        return {namespace: len(index) for namespace, index in self._indexes.items()}

    async def _index_of(self, namespace: Namespace) -> VectorIndex:
        while namespace not in self._indexes:
            if namespace in self._loading:
                await self._loading[namespace].done.wait()
            else:
                await self._load(namespace)
        self._indexes.move_to_end(namespace)
        return self._indexes[namespace]

    async def _load(self, namespace: Namespace) -> None:
        """Read an index. What is committed meanwhile may or may not be in what was read; doing it again is harmless."""
        loading = self._loading[namespace] = _Loading()
        try:
            table = await self._storage.list_embeddings(namespace)
            index = await self._offload(lambda: _index_from(table))
            for change in loading.changes:
                index = _after(index, change)
            self._indexes[namespace] = index
            while len(self._indexes) > self._most_namespaces:
                self._indexes.popitem(last=False)
        finally:
            del self._loading[namespace]
            loading.done.set()


def _index_from(table: EmbeddingTable) -> VectorIndex:
    return VectorIndex.of(table.record_ids, table.created_ats, table.vectors)


def _after(index: VectorIndex, change: Change) -> VectorIndex:
    if isinstance(change, RecordEmbedded):
        return index.with_record(change.record_id, change.created_at, change.vector)
    if isinstance(change, RecordRemoved):
        return index.without(change.record_id)
    return index
