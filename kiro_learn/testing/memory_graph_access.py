"""The graph's part of ``InMemoryStorage`` and of its transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from kiro_learn.model.graph import Entity, Evidence, Fact, GraphItem, GraphItemId, GraphKind, reworded_among
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Vector
from kiro_learn.ports.storage.changes import Change, GraphChanged
from kiro_learn.ports.storage.graph import GraphList, GraphVectors, GraphWalk, GraphWords, Reached
from kiro_learn.testing import memory_graph
from kiro_learn.testing.memory_state import State


class MemoryGraphWrites:
    """See ``ports.storage.graph.GraphWrites``."""

    state: State
    changes: list[Change]

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        changes: list[Change] = []
        for namespace in sorted({item.namespace for item in items}):
            mine = [item for item in items if item.namespace == namespace]
            changes.append(GraphChanged(namespace, reworded_among(mine, self.state.graph_items)))
        memory_graph.put_items(self.state, items)
        self.changes += changes

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> None:
        self.state.graph_evidence |= {(each.item_id, each.event_id): each for each in evidence}

    def delete_graph_evidence(self, keys: Collection[tuple[GraphItemId, EventId]]) -> None:
        for key in keys:
            self.state.graph_evidence.pop(key, None)

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        return memory_graph.find_entities(self.state, namespace, names)

    def find_graph_items(
        self, namespace: Namespace, kind: GraphKind, about: Collection[GraphItemId] = ()
    ) -> list[GraphItem]:
        return memory_graph.find_items(self.state, namespace, kind, about)

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        return {event_id for _, event_id in self.state.graph_evidence if event_id in event_ids}

    def find_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        return memory_graph.get_evidence(self.state, item_ids)

    def put_graph_vectors(self, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
        memory_graph.put_vectors(self.state, digest, vectors)

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> None:
        known = {item.namespace for each in item_ids if (item := self.state.graph_items.get(each)) is not None}
        self.changes += [GraphChanged(namespace) for namespace in sorted(known)]
        memory_graph.delete_items(self.state, item_ids)

    def forget_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> bool:
        item = self.state.graph_items.get(item_id)
        if item is None or item.namespace != namespace:
            return False
        before = self.state.graph_evidence
        self.delete_graph_items([item_id])
        gone = [each for key, each in before.items() if key not in self.state.graph_evidence]
        known = [Evidence(item_id, each.event_id, each.observed_at, weight=0.0) for each in gone]
        self.state.graph_evidence |= {(item_id, each.event_id): each for each in known}
        return True


class MemoryGraphReads:
    """See ``ports.storage.graph.GraphReads``."""

    _read: Callable[[], Awaitable[State]]

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        return memory_graph.search_words(await self._read(), search)

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        return memory_graph.walk(await self._read(), walk)

    async def list_candidate_facts(
        self, namespace: Namespace, about: Collection[GraphItemId], *, limit: int
    ) -> list[Fact]:
        return memory_graph.list_candidates(await self._read(), namespace, about, limit)

    async def find_named_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        return memory_graph.find_entities(await self._read(), namespace, names)

    async def list_graph_items_without_vector(self, digest: str, *, limit: int) -> list[GraphItem]:
        return memory_graph.list_without_vector(await self._read(), digest, limit)

    async def load_graph_vectors(self, namespace: Namespace, digest: str, *, after: int) -> GraphVectors:
        return memory_graph.load_vectors(await self._read(), namespace, digest, after)

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        items = (await self._read()).graph_items
        return {each: items[each] for each in item_ids if each in items and items[each].namespace == namespace}

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        return memory_graph.list_items(await self._read(), query)

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        return memory_graph.get_evidence(await self._read(), item_ids)
