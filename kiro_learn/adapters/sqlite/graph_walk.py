"""The walk along the graph's edges, level by level: three queries a level, however many entities it has."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

import apsw

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.graph_rows import to_item
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, GraphKind, Relationship
from kiro_learn.model.moment import to_text
from kiro_learn.ports.storage.graph import GraphWalk, Reached


def walk_graph(connection: apsw.Connection, walk: GraphWalk) -> list[Reached]:
    """See ``GraphReads.walk_graph``."""
    steps = _Steps(connection, walk)
    reached: dict[GraphItemId, Reached] = {}
    frontier = steps.entities(dict.fromkeys(walk.seeds))
    for depth in range(walk.depth + 1):
        room = walk.most_entities - sum(isinstance(each.item, Entity) for each in reached.values())
        frontier = frontier[: max(0, room)]
        if not frontier:
            break
        ids = [entity.item_id for entity in frontier]
        edges = steps.edges(ids)
        degrees = {near: degree for near, degree, _ in edges}
        for entity in frontier:
            reached[entity.item_id] = Reached(entity, depth, degrees.get(entity.item_id, 0))
        fact_count = sum(isinstance(each.item, Fact) for each in reached.values())
        for fact in steps.facts(ids)[: max(0, walk.most_facts - fact_count)]:
            reached[fact.item_id] = Reached(fact, depth)
        for _, _, edge in edges:
            reached.setdefault(edge.item_id, Reached(edge, depth))
        others = (end for _, _, edge in edges for end in (edge.source_id, edge.target_id))
        frontier = steps.entities(each for each in dict.fromkeys(others) if each not in reached)
    return sorted(reached.values(), key=_order)


class _Steps:
    """The queries of one walk."""

    def __init__(self, connection: apsw.Connection, walk: GraphWalk) -> None:
        self._connection = connection
        self._is_now = walk.as_of is None
        at = None if walk.as_of is None else to_text(walk.as_of)
        self._values: Values = {
            "namespace": walk.namespace,
            "per_node": walk.per_node,
            "min_confidence": walk.min_confidence,
            "as_of": at,
        }

    def entities(self, ids: Iterable[GraphItemId]) -> list[Entity]:
        """In the order of ``ids``."""
        wanted = list(ids)
        rows = self._rows(statements.GET_ITEMS[GraphKind.ENTITY], wanted) if wanted else []
        found = {item.item_id: item for item in (to_item(GraphKind.ENTITY, row) for row in rows)}
        return [item for item in (found.get(each) for each in wanted) if isinstance(item, Entity)]

    def facts(self, ids: Collection[GraphItemId]) -> list[Fact]:
        """The surest of each entity, the surest of all first."""
        items = (
            to_item(GraphKind.FACT, row)
            for row in self._rows(statements.FACTS_OF if self._is_now else statements.FACTS_OF_AT, ids)
        )
        facts = [item for item in items if isinstance(item, Fact)]
        return sorted(facts, key=lambda fact: (-fact.confidence, fact.item_id))

    def edges(self, ids: Collection[GraphItemId]) -> list[tuple[str, int, Relationship]]:
        """The surest of each entity, with that entity and how many it has."""
        rows = self._rows(statements.EDGES_OF if self._is_now else statements.EDGES_OF_AT, ids)
        found = ((near, degree, to_item(GraphKind.RELATIONSHIP, row)) for near, degree, *row in rows)
        edges = [(near, degree, item) for near, degree, item in found if isinstance(item, Relationship)]
        return sorted(edges, key=lambda edge: (-edge[2].confidence, edge[2].item_id))

    def _rows(self, statement: str, ids: Collection[GraphItemId]) -> list[Any]:
        return self._connection.execute(statement, self._values | {"ids": json.dumps(list(ids))}).fetchall()


def _order(reached: Reached) -> tuple[int, float, GraphItemId]:
    return reached.depth, -_confidence(reached.item), reached.item.item_id


def _confidence(item: GraphItem) -> float:
    return item.confidence if isinstance(item, Fact | Relationship) else 1.0
