"""The walk along the graph's edges, level by level: three queries a level, however many entities it has."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

import apsw

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.graph_rows import items_in
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.model.graph import Entity, Fact, GraphItemId, GraphKind
from kiro_learn.model.moment import to_text
from kiro_learn.ports.storage.graph import GraphWalk, Reached


def walk_graph(connection: apsw.Connection, damaged: DamagedRows, walk: GraphWalk) -> list[Reached]:
    """See ``GraphReads.walk_graph``."""
    steps = _Steps(connection, walk, damaged)
    entities: dict[GraphItemId, Reached] = {}
    facts: dict[GraphItemId, Reached] = {}
    frontier = steps.entities(dict.fromkeys(walk.seeds))
    for depth in range(walk.depth + 1):
        frontier = frontier[: max(0, walk.most_entities - len(entities))]
        if not frontier:
            break
        ids = [entity.item_id for entity in frontier]
        neighbors, degrees = steps.neighbors(ids)
        for entity in frontier:
            entities[entity.item_id] = Reached(entity, depth, degrees.get(entity.item_id, 0))
        for fact in steps.facts(ids, most=walk.most_facts - len(facts)):
            facts[fact.item_id] = Reached(fact, depth)
        frontier = steps.entities(each for each in neighbors if each not in entities) if depth < walk.depth else []
    return sorted((*entities.values(), *facts.values()), key=_order)


class _Steps:
    """The queries of one walk."""

    def __init__(self, connection: apsw.Connection, walk: GraphWalk, damaged: DamagedRows) -> None:
        self._connection = connection
        self._damaged = damaged
        self._is_now = walk.as_of is None
        self._values: Values = {
            "namespace": walk.namespace,
            "per_node": walk.per_node,
            "min_confidence": walk.min_confidence,
            "as_of": None if walk.as_of is None else to_text(walk.as_of),
        }

    def entities(self, ids: Iterable[GraphItemId]) -> list[Entity]:
        """In the order of ``ids``."""
        wanted = list(ids)
        rows = self._rows(statements.GET_ITEMS[GraphKind.ENTITY], wanted) if wanted else []
        found = {item.item_id: item for item in items_in(GraphKind.ENTITY, rows, self._damaged)}
        return [item for item in (found.get(each) for each in wanted) if isinstance(item, Entity)]

    def facts(self, ids: Collection[GraphItemId], *, most: int) -> list[Fact]:
        """The surest of each entity, of all these the ``most`` surest."""
        statement = statements.FACTS_OF if self._is_now else statements.FACTS_OF_AT
        items = items_in(GraphKind.FACT, self._rows(statement, ids, most=max(0, most)), self._damaged)
        return [item for item in items if isinstance(item, Fact)]

    def neighbors(self, ids: Collection[GraphItemId]) -> tuple[list[GraphItemId], dict[str, int]]:
        """What the surest edges of each entity lead to, the surest first; and how many edges each has."""
        rows = self._rows(statements.EDGES_OF if self._is_now else statements.EDGES_OF_AT, ids)
        return list(dict.fromkeys(GraphItemId(row[2]) for row in rows)), {row[0]: row[1] for row in rows}

    def _rows(self, statement: str, ids: Collection[GraphItemId], **values: int) -> list[Any]:
        given = {**self._values, **values, "ids": json.dumps(list(ids))}
        return list(decodable(self._connection.execute(statement, given)))


def _order(reached: Reached) -> tuple[int, float, GraphItemId]:
    return reached.depth, -(reached.item.confidence if isinstance(reached.item, Fact) else 1.0), reached.item.item_id
