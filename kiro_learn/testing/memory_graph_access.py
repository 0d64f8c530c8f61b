"""The graph's part of ``InMemoryStorage`` and of its transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kiro_learn.model.graph import Entity, Evidence, GraphItem, GraphItemId, GraphKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.graph import EntityName, GraphList, GraphVectors, GraphWalk, GraphWords, Reached
from kiro_learn.testing import memory_graph
from kiro_learn.testing.memory_state import State


class MemoryGraphWrites:
    """See ``ports.storage.graph.GraphWrites``."""

    state: State

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        memory_graph.put_items(self.state, items)

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        return memory_graph.put_evidence(self.state, evidence)

    def put_graph_vectors(self, model: str, vectors: Sequence[tuple[GraphItemId, npt.NDArray[np.float32]]]) -> None:
        memory_graph.put_vectors(self.state, model, vectors)

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        return memory_graph.find_entities(self.state, namespace, names)

    def find_graph_items(
        self, namespace: Namespace, kind: GraphKind, about: Collection[GraphItemId] = ()
    ) -> list[GraphItem]:
        return memory_graph.find_items(self.state, namespace, kind, about)

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        return {event_id for _, event_id in self.state.graph_evidence if event_id in event_ids}

    def count_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, int]:
        return dict(Counter(item_id for item_id, _ in self.state.graph_evidence if item_id in item_ids))

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> int:
        return memory_graph.delete_items(self.state, item_ids)

    def put_compacted_events(self, event_ids: Collection[EventId], episode_id: GraphItemId) -> None:
        memory_graph.put_compacted(self.state, event_ids, episode_id)


class MemoryGraphReads:
    """See ``ports.storage.graph.GraphReads``."""

    _read: Callable[[], Awaitable[State]]

    async def get_graph_generation(self, namespace: Namespace) -> int:
        return (await self._read()).graph_generations.get(namespace, 0)

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        return memory_graph.search_words(await self._read(), search)

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        return memory_graph.walk(await self._read(), walk)

    async def list_entity_names(self, namespace: Namespace) -> list[EntityName]:
        return memory_graph.list_names(await self._read(), namespace)

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        items = (await self._read()).graph_items
        return {each: items[each] for each in item_ids if each in items and items[each].namespace == namespace}

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        return memory_graph.list_items(await self._read(), query)

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        return memory_graph.get_evidence(await self._read(), item_ids)

    async def count_graph_items(self, namespace: Namespace) -> dict[GraphKind, int]:
        return memory_graph.count_items(await self._read(), namespace)

    async def list_graph_items_without_vector(self, model: str, *, limit: int) -> list[GraphItem]:
        return memory_graph.list_without_vector(await self._read(), model, limit)

    async def load_graph_vectors(self, namespace: Namespace, model: str, *, after: int = 0) -> GraphVectors:
        return memory_graph.load_vectors(await self._read(), namespace, model, after)

    async def list_uncompacted_sessions(self, namespace: Namespace, *, before: datetime, limit: int) -> list[str]:
        return memory_graph.list_uncompacted_sessions(await self._read(), namespace, before, limit)

    async def list_uncompacted_event_ids(self, namespace: Namespace, session_id: str, *, limit: int) -> list[EventId]:
        return memory_graph.list_uncompacted_event_ids(await self._read(), namespace, session_id, limit)
