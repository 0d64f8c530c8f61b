"""Queries about the graph: its items, their vectors, the walk along its edges, and the picture of what is remembered.

The picture shows the newest memories, and the entities that are mentioned most.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, islice, zip_longest
from typing import Any, TypeAlias

import apsw
import numpy as np

from kiro_learn.adapters.sqlite import graph_statements, record_statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, decodable
from kiro_learn.adapters.sqlite.graph_rows import folded, items_in, kinds_of, to_evidence
from kiro_learn.adapters.sqlite.rows import Values, to_moment
from kiro_learn.model.graph import (
    LINKS_A_NODE,
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    GraphPicture,
    NodeKind,
    PictureAsked,
    PictureLink,
    PictureNode,
)
from kiro_learn.model.ids import to_text
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.model.vectors import Vector
from kiro_learn.ports.storage.graph import GraphList, GraphVectors, GraphWalk, GraphWords, Reached
from kiro_learn.retrieval.query.syntax import has_words, match_expression

LEAST_USES = 2
"""The fewest memories that must share a concept or a file, so that it is shown."""
SHARE = 4
"""Concepts, files and entities each get at most this part of the nodes: one quarter."""
MOST_PARTS = 12
"""The most parts of one memory that are linked pairwise, if memories are not shown; pairs grow quadratically."""

Parts: TypeAlias = dict[str, PictureNode]
"""Nodes by their ids."""


def read_picture(connection: apsw.Connection, asked: PictureAsked) -> GraphPicture:
    """See ``GraphReads.read_graph_picture``."""
    values: Values = {"namespace": asked.namespace, "limit": asked.limit}
    is_all = asked.namespace is None
    wanted = graph_statements.PICTURE_RECORDS_OF_ALL if is_all else graph_statements.PICTURE_RECORDS_OF_NAMESPACE
    counted = record_statements.COUNT_RECORDS_OF_ALL if is_all else record_statements.COUNT_RECORDS_OF_NAMESPACE
    records = list(decodable(connection.execute(wanted, values)))
    drawing = _Drawing(asked)
    if NodeKind.ENTITY in asked.show:
        drawing.add_entities(connection, values)
    drawing.add_memories(records)
    drawing.left_out[NodeKind.MEMORY] += connection.execute(counted, values).get - len(records)
    return drawing.finished()


class _Drawing:
    def __init__(self, asked: PictureAsked) -> None:
        self._show, self._limit = asked.show, asked.limit
        self._nodes: Parts = {}
        self._links: Counter[tuple[str, str, str | None]] = Counter()
        self._of_event: dict[str, Parts] = defaultdict(dict)
        self.left_out: Counter[str] = Counter()

    def add_entities(self, connection: apsw.Connection, values: Values) -> None:
        rows = decodable(connection.execute(graph_statements.PICTURE_ENTITIES, values))
        kept = self._keep(NodeKind.ENTITY, [_node(NodeKind.ENTITY, row) for row in rows])
        ids = {"ids": json.dumps(list(kept))}
        self._links.update(connection.execute(graph_statements.PICTURE_EDGES, ids))
        for item_id, event_id, *_ in connection.execute(graph_statements.EVIDENCE, ids):
            self._of_event[event_id][item_id] = kept[item_id]
        for node in kept.values():
            projects = self._project_of(node.namespace)
            self._nodes |= projects
            self._links.update((project, node.id, None) for project in projects)

    def add_memories(self, records: Sequence[Row]) -> None:
        about = [self._about(row) for row in records]
        uses = Counter(part for parts in about for part in parts)
        known = {part: node for parts in reversed(about) for part, node in parts.items()}  # the newest spelling
        shared = [known[part] for part, count in uses.most_common() if count >= LEAST_USES]
        for kind in (NodeKind.CONCEPT, NodeKind.FILE):
            self._keep(kind, [node for node in shared if node.kind is kind])
        self._nodes |= {part: node for part, node in known.items() if node.kind is NodeKind.PROJECT}
        room = max(0, self._limit - len(self._nodes))
        is_shown = NodeKind.MEMORY in self._show
        links: list[list[tuple[str, str, None]]] = []
        for row, parts in zip(records[:room] if is_shown else records, about, strict=False):
            kept = [part for part in parts if part in self._nodes]
            if is_shown:
                node = _node(NodeKind.MEMORY, row)
                self._nodes[node.id] = node
                links.append([(node.id, part, None) for part in kept])
            else:
                self._links.update((one, other, None) for one, other in combinations(sorted(kept[:MOST_PARTS]), 2))
        # First one link of each memory, then a second one, so that a full picture leaves no memory without a link.
        self._links.update(link for round_ in zip_longest(*links) for link in round_ if link is not None)
        self.left_out[NodeKind.MEMORY] = max(0, len(records) - room) if is_shown else 0

    def _keep(self, kind: NodeKind, found: Sequence[PictureNode]) -> Parts:
        """Add the first of ``found``, at most the share of their kind; returns those."""
        kept = {node.id: node for node in found[: self._limit // SHARE]}
        self.left_out[kind] = len(found) - len(kept)
        self._nodes |= kept
        return kept

    def _about(self, row: Row) -> Parts:
        """The nodes that a memory is about, of the kinds that are shown; its project comes last."""
        concepts, files, events = (json.loads(listed) for listed in row[5:])
        named = ((NodeKind.CONCEPT, "concept", concepts), (NodeKind.FILE, "file", files))
        found: Parts = {}
        for kind, prefix, texts in named:
            if kind in self._show:
                nodes = (PictureNode(id=f"{prefix}:{folded(each)}", kind=kind, label=each) for each in map(str, texts))
                found |= {node.id: node for node in nodes}
        for each in events if self._of_event else ():
            found |= self._of_event.get(each, {})
        return found | self._project_of(row[1])

    def _project_of(self, namespace: Namespace | None) -> Parts:
        if namespace is None or NodeKind.PROJECT not in self._show:
            return {}
        label = project_id_in(namespace)
        return {namespace: PictureNode(id=namespace, kind=NodeKind.PROJECT, label=label, namespace=namespace)}

    def finished(self) -> GraphPicture:
        """The picture, cut to its limits. First links between entities, then links by the count of memories."""
        nodes = list(self._nodes.values())[: self._limit]
        places = {node.id: place for place, node in enumerate(nodes)}
        ordered = sorted(self._links.items(), key=lambda link: (link[0][2] is None, -link[1]))
        links = [
            PictureLink(source=places[source], target=places[target], says=says, count=count)
            for (source, target, says), count in ordered
            if source in places and target in places
        ]
        most = self._limit * LINKS_A_NODE
        self.left_out["links"] = len(links) - len(links[:most])
        return GraphPicture(nodes=nodes, links=links[:most], left_out=+self.left_out)


def _node(kind: NodeKind, row: Row) -> PictureNode:
    id_, namespace, at, type_, label, *_ = row
    return PictureNode(id=id_, kind=kind, label=label, type=type_, namespace=Namespace(namespace), at=to_moment(at))


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
        """The entities, in the order of ``ids``."""
        wanted = list(ids)
        rows = self._rows(graph_statements.GET_ITEMS[GraphKind.ENTITY], wanted) if wanted else []
        found = {item.item_id: item for item in items_in(GraphKind.ENTITY, rows, self._damaged)}
        return [item for item in (found.get(each) for each in wanted) if isinstance(item, Entity)]

    def facts(self, ids: Collection[GraphItemId], *, most: int) -> list[Fact]:
        """The facts of highest confidence of each entity, and of these the ``most`` best."""
        statement = graph_statements.FACTS_OF if self._is_now else graph_statements.FACTS_OF_AT
        items = items_in(GraphKind.FACT, self._rows(statement, ids, most=max(0, most)), self._damaged)
        return [item for item in items if isinstance(item, Fact)]

    def neighbors(self, ids: Collection[GraphItemId]) -> tuple[list[GraphItemId], dict[str, int]]:
        """The ends of each entity's edges of highest confidence, best first; and how many edges each entity has."""
        rows = self._rows(graph_statements.EDGES_OF if self._is_now else graph_statements.EDGES_OF_AT, ids)
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
    vector_of = dict(vectors)
    for item_id, kind in kinds_of(vector_of):
        if kind in graph_statements.PUT_VECTOR:
            blob = np.ascontiguousarray(vector_of[item_id], dtype="<f4").tobytes()
            connection.execute(graph_statements.PUT_VECTOR[kind], {"id": item_id, "digest": digest, "vector": blob})


def list_without_vector(
    connection: apsw.Connection, damaged: DamagedRows, digest: str, *, limit: int
) -> list[GraphItem]:
    """See ``GraphReads.list_graph_items_without_vector``."""
    found: list[GraphItem] = []
    for kind, statement in graph_statements.WITHOUT_VECTOR.items():
        rows = connection.execute(statement, {"digest": digest})
        found += islice(items_in(kind, rows, damaged), limit - len(found))
    return found


def load_vectors(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, digest: str, *, after: int
) -> GraphVectors:
    """See ``GraphReads.load_graph_vectors``. A vector that is not as long as most is noted and left out."""
    values: Values = {"namespace": namespace, "digest": digest, "after": after}
    found: list[Row] = connection.execute(graph_statements.VECTORS, values).fetchall()
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
        total=connection.execute(graph_statements.COUNT_VECTORS, {"namespace": namespace, "digest": digest}).get
        - (len(found) - len(rows)),
    )


AFTER_ALL = "~"
"""Sorts after every id."""


def search_words(connection: apsw.Connection, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
    """The items with all words; if these are fewer than the limit, then those with any of the words."""
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
    statement = (graph_statements.SEARCH_CURRENT if search.as_of is None else graph_statements.SEARCH_AS_OF)[kind]
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
    found = items_in(GraphKind.FACT, connection.execute(graph_statements.CANDIDATES_OF, values), damaged)
    return [item for item in found if isinstance(item, Fact)]


def find_entities(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, names: Collection[str]
) -> list[Entity]:
    """See ``GraphReads.find_named_entities``."""
    values = {"namespace": namespace, "names": json.dumps(sorted({folded(name) for name in names}))}
    rows = connection.execute(graph_statements.FIND_BY_NAME, values)
    return [item for item in items_in(GraphKind.ENTITY, rows, damaged) if isinstance(item, Entity)]


def get_items(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, GraphItem]:
    """See ``GraphReads.get_graph_items``."""
    found: dict[GraphItemId, GraphItem] = {}
    wanted: defaultdict[GraphKind, list[GraphItemId]] = defaultdict(list)
    for item_id, kind in kinds_of(item_ids):
        wanted[kind].append(item_id)
    for kind, ids in wanted.items():
        values = {"namespace": namespace, "ids": json.dumps(ids)}
        for item in items_in(kind, connection.execute(graph_statements.GET_ITEMS[kind], values), damaged):
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
    lists = graph_statements.LIST_CURRENT if query.only_current else graph_statements.LIST_ALL
    statement = (lists if query.as_of is None else graph_statements.LIST_AS_OF)[query.kind]
    return list(items_in(query.kind, connection.execute(statement, values), damaged))


def get_evidence(
    connection: apsw.Connection, damaged: DamagedRows, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, tuple[Evidence, ...]]:
    """See ``GraphReads.get_graph_evidence``."""
    found: dict[GraphItemId, list[Evidence]] = {item_id: [] for item_id in item_ids}
    values = {"ids": json.dumps(list(item_ids))}
    for evidence in damaged.only_readable(
        decodable(connection.execute(graph_statements.EVIDENCE, values)), to_evidence
    ):
        found[evidence.item_id].append(evidence)
    return {item_id: tuple(rows) for item_id, rows in found.items()}
