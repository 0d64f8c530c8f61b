"""Draws the picture of what is remembered: of the newest memories, and of the entities that are mentioned most."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, zip_longest
from typing import TypeAlias

import apsw

from kiro_learn.adapters.sqlite import graph_statements, statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.graph_rows import folded
from kiro_learn.adapters.sqlite.rows import Row, Values, to_moment
from kiro_learn.model.graph import (
    LINKS_A_NODE,
    GraphPicture,
    NodeKind,
    PictureAsked,
    PictureLink,
    PictureNode,
)
from kiro_learn.model.namespace import Namespace, project_id_in

LEAST_USES = 2
"""Memories that share a concept or a file, from which on it joins something."""
SHARE = 4
"""Concepts, files and entities each get at most one in so many of the nodes."""
MOST_PARTS = 12
"""Of what one memory is about, joined directly where memories are not shown: pairs grow with the square."""

Parts: TypeAlias = dict[str, PictureNode]
"""By id."""


def read_picture(connection: apsw.Connection, asked: PictureAsked) -> GraphPicture:
    """See ``GraphReads.read_graph_picture``."""
    values: Values = {"namespace": asked.namespace, "limit": asked.limit}
    is_all = asked.namespace is None
    wanted = graph_statements.PICTURE_RECORDS_OF_ALL if is_all else graph_statements.PICTURE_RECORDS_OF_NAMESPACE
    counted = statements.COUNT_RECORDS_OF_ALL if is_all else statements.COUNT_RECORDS_OF_NAMESPACE
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
        known = {part: node for parts in reversed(about) for part, node in parts.items()}  # spelled as it was last
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
        # A link of each memory, then a second one: what does not fit should leave none without any.
        self._links.update(link for round_ in zip_longest(*links) for link in round_ if link is not None)
        self.left_out[NodeKind.MEMORY] = max(0, len(records) - room) if is_shown else 0

    def _keep(self, kind: NodeKind, found: Sequence[PictureNode]) -> Parts:
        """The first of them, as far as this kind may go."""
        kept = {node.id: node for node in found[: self._limit // SHARE]}
        self.left_out[kind] = len(found) - len(kept)
        self._nodes |= kept
        return kept

    def _about(self, row: Row) -> Parts:
        """What a memory is about, of what is shown; its project last."""
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
        """As far as it may go; what is stated of entities first, then what many memories say."""
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
