"""Queries about the graph: its items, their vectors, and the walk along its edges."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any

import apsw
import numpy as np

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.graph_picture import read_picture
from kiro_learn.adapters.sqlite.graph_rows import folded, items_in, to_evidence
from kiro_learn.adapters.sqlite.readers import reading, reading_sound
from kiro_learn.adapters.sqlite.rows import Row, Values
from kiro_learn.model.graph import Entity, Evidence, Fact, GraphItem, GraphItemId, GraphKind, kind_of
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Vector
from kiro_learn.ports.storage.graph import GraphList, GraphVectors, GraphWalk, GraphWords, Reached
from kiro_learn.retrieval.query.syntax import has_words, match_expression

# The walk along the graph's edges, level by level: three queries a level, however many entities it has.


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


# Vectors of the graph's items, as the store keeps them.

FLOAT_BYTES = 4


def put_vectors(connection: apsw.Connection, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
    """See ``GraphWrites.put_graph_vectors``."""
    for item_id, vector in vectors:
        kind = kind_of(item_id)
        if kind in statements.PUT_VECTOR:
            blob = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            connection.execute(statements.PUT_VECTOR[kind], {"id": item_id, "digest": digest, "vector": blob})


def list_without_vector(
    connection: apsw.Connection, damaged: DamagedRows, digest: str, *, limit: int
) -> list[GraphItem]:
    """See ``GraphReads.list_graph_items_without_vector``."""
    found: list[GraphItem] = []
    for kind, statement in statements.WITHOUT_VECTOR.items():
        rows = connection.execute(statement, {"digest": digest})
        found += islice(items_in(kind, rows, damaged), limit - len(found))
    return found


def load_vectors(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, digest: str, *, after: int
) -> GraphVectors:
    """See ``GraphReads.load_graph_vectors``. A vector that is not as long as most is noted and left out."""
    values: Values = {"namespace": namespace, "digest": digest, "after": after}
    found: list[Row] = connection.execute(statements.VECTORS, values).fetchall()
    sizes = Counter(size for row in found if (size := len(row[2])) and size % FLOAT_BYTES == 0)
    size = max(sizes, key=lambda each: (sizes[each], each), default=0)
    rows = [row for row in found if size and len(row[2]) == size]
    for row in found:
        if not size or len(row[2]) != size:
            damaged.note(row[1])
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f4")
    return GraphVectors(
        item_ids=tuple(GraphItemId(row[1]) for row in rows),
        rows=vectors.reshape(len(rows), -1) if rows else vectors.reshape(0, 0),
        through=found[-1][0] if found else after,
        total=connection.execute(statements.COUNT_VECTORS, {"namespace": namespace, "digest": digest}).get
        - (len(found) - len(rows)),
    )


AFTER_ALL = "~"
"""Sorts after every id."""


def search_words(connection: apsw.Connection, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
    """All words first; where that leaves room, any of them."""
    words = [word for word in dict.fromkeys(search.words) if "\0" not in word and has_words(word)]
    found: dict[GraphKind, list[GraphItemId]] = {kind: [] for kind in search.limits}
    if not words:
        return found
    for kind, limit in search.limits.items():
        every = " AND ".join(match_expression([word]) for word in words)
        together = _matching(connection, search, kind, every, limit) if len(words) > 1 else []
        rest = _matching(connection, search, kind, match_expression(words), limit) if len(together) < limit else []
        found[kind] = list(dict.fromkeys((*together, *rest)))[:limit]
    return found


def _matching(
    connection: apsw.Connection, search: GraphWords, kind: GraphKind, expression: str, limit: int
) -> list[GraphItemId]:
    values: Values = {
        "expression": expression,
        "namespace": search.namespace,
        "limit": limit,
        "as_of": None if search.as_of is None else to_text(search.as_of),
    }
    statement = (statements.SEARCH_CURRENT if search.as_of is None else statements.SEARCH_AS_OF)[kind]
    return [GraphItemId(item_id) for (item_id,) in connection.execute(statement, values)]


def list_candidates(
    connection: apsw.Connection,
    damaged: DamagedRows,
    namespace: Namespace,
    about: Collection[GraphItemId],
    *,
    limit: int,
) -> list[Fact]:
    """See ``GraphReads.list_candidate_facts``."""
    values: Values = {"namespace": namespace, "ids": json.dumps(sorted(about)), "per_node": limit, "most": limit}
    found = items_in(GraphKind.FACT, connection.execute(statements.CANDIDATES_OF, values), damaged)
    return [item for item in found if isinstance(item, Fact)]


def find_entities(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, names: Collection[str]
) -> list[Entity]:
    """See ``GraphReads.find_named_entities``."""
    values = {"namespace": namespace, "names": json.dumps(sorted({folded(name) for name in names}))}
    rows = connection.execute(statements.FIND_BY_NAME, values)
    return [item for item in items_in(GraphKind.ENTITY, rows, damaged) if isinstance(item, Entity)]


def get_items(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, GraphItem]:
    """See ``GraphReads.get_graph_items``."""
    found: dict[GraphItemId, GraphItem] = {}
    for kind in {kind_of(item_id) for item_id in item_ids} - {None}:
        assert kind is not None, "taken off above"
        wanted = [item_id for item_id in item_ids if kind_of(item_id) is kind]
        values = {"namespace": namespace, "ids": json.dumps(wanted)}
        for item in items_in(kind, connection.execute(statements.GET_ITEMS[kind], values), damaged):
            found[item.item_id] = item
    return {item_id: found[item_id] for item_id in item_ids if item_id in found}


def list_items(connection: apsw.Connection, damaged: DamagedRows, query: GraphList) -> list[GraphItem]:
    """See ``GraphReads.list_graph_items``."""
    values: Values = {
        "namespace": query.namespace,
        "limit": query.limit,
        "text": query.text,
        "about": query.about,
        "before": query.before or AFTER_ALL,
        "as_of": None if query.as_of is None else to_text(query.as_of),
    }
    lists = statements.LIST_CURRENT if query.only_current else statements.LIST_ALL
    statement = (lists if query.as_of is None else statements.LIST_AS_OF)[query.kind]
    return list(items_in(query.kind, connection.execute(statement, values), damaged))


def get_evidence(
    connection: apsw.Connection, damaged: DamagedRows, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, tuple[Evidence, ...]]:
    """See ``GraphReads.get_graph_evidence``."""
    found: dict[GraphItemId, list[Evidence]] = {item_id: [] for item_id in item_ids}
    values = {"ids": json.dumps(list(item_ids))}
    for evidence in damaged.only_readable(decodable(connection.execute(statements.EVIDENCE, values)), to_evidence):
        found[evidence.item_id].append(evidence)
    return {item_id: tuple(rows) for item_id, rows in found.items()}


class GraphReads:
    """The part of the store that ``ports.storage.graph`` describes."""

    search_graph_words = reading(search_words)
    walk_graph = reading_sound(walk_graph)
    list_candidate_facts = reading_sound(list_candidates)
    find_named_entities = reading_sound(find_entities)
    list_graph_items_without_vector = reading_sound(list_without_vector)
    load_graph_vectors = reading_sound(load_vectors)
    get_graph_items = reading_sound(get_items)
    list_graph_items = reading_sound(list_items)
    get_graph_evidence = reading_sound(get_evidence)
    read_graph_picture = reading(read_picture)
