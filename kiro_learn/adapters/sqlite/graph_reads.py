"""Queries about the graph."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from functools import partial

import apsw
import numpy as np

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.graph_rows import to_item
from kiro_learn.adapters.sqlite.graph_walk import walk_graph
from kiro_learn.adapters.sqlite.readers import Readers
from kiro_learn.adapters.sqlite.rows import Row, Values
from kiro_learn.model.graph import EntityType, Evidence, GraphItem, GraphItemId, GraphKind, kind_of
from kiro_learn.model.ids import EventId
from kiro_learn.model.moment import from_text, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.graph import EntityName, GraphList, GraphVectors, GraphWalk, GraphWords, Reached

EMBEDDED_KINDS = (GraphKind.ENTITY, GraphKind.FACT, GraphKind.PROCEDURE, GraphKind.EPISODE)
BEFORE_ALL, AFTER_ALL = "", "~"
"""Sort before and after every moment and every id."""


class GraphReads:
    """The part of the store that ``ports.storage.graph`` describes."""

    _readers: Readers

    async def get_graph_generation(self, namespace: Namespace) -> int:
        return await self._readers.read(partial(get_generation, namespace=namespace))

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        return await self._readers.read(partial(search_words, search=search))

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        return await self._readers.read(partial(walk_graph, walk=walk))

    async def list_entity_names(self, namespace: Namespace) -> list[EntityName]:
        return await self._readers.read(partial(list_entity_names, namespace=namespace))

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        return await self._readers.read(partial(get_items, namespace=namespace, item_ids=item_ids))

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        return await self._readers.read(partial(list_items, query=query))

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        return await self._readers.read(partial(get_evidence, item_ids=item_ids))

    async def count_graph_items(self, namespace: Namespace) -> dict[GraphKind, int]:
        return await self._readers.read(partial(count_items, namespace=namespace))

    async def list_graph_items_without_vector(self, model: str, *, limit: int) -> list[GraphItem]:
        return await self._readers.read(partial(list_without_vector, model=model, limit=limit))

    async def load_graph_vectors(self, namespace: Namespace, model: str, *, after: int = 0) -> GraphVectors:
        return await self._readers.read(partial(load_vectors, namespace=namespace, model=model, after=after))

    async def list_uncompacted_sessions(self, namespace: Namespace, *, before: datetime, limit: int) -> list[str]:
        values = {"namespace": namespace, "before": to_text(before), "limit": limit}
        return await self._readers.read(partial(_texts, statement=statements.UNCOMPACTED_SESSIONS, values=values))

    async def list_uncompacted_event_ids(self, namespace: Namespace, session_id: str, *, limit: int) -> list[EventId]:
        values = {"namespace": namespace, "session_id": session_id, "limit": limit}
        found = await self._readers.read(partial(_texts, statement=statements.UNCOMPACTED_EVENTS, values=values))
        return [EventId(each) for each in found]


def get_generation(connection: apsw.Connection, *, namespace: Namespace) -> int:
    """See ``GraphReads.get_graph_generation``."""
    return connection.execute(statements.GENERATION, {"namespace": namespace}).get or 0


def search_words(connection: apsw.Connection, *, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
    """All words first; where that leaves room, any of them."""
    quoted = ['"' + word.replace('"', '""') + '"' for word in dict.fromkeys(search.words) if _has_letters(word)]
    found: dict[GraphKind, list[GraphItemId]] = {kind: [] for kind in search.limits}
    if not quoted:
        return found
    for kind, limit in search.limits.items():
        together = _matching(connection, search, kind, " AND ".join(quoted), limit) if len(quoted) > 1 else []
        rest = _matching(connection, search, kind, " OR ".join(quoted), limit) if len(together) < limit else []
        found[kind] = list(dict.fromkeys((*together, *rest)))[:limit]
    return found


def _has_letters(word: str) -> bool:
    """A word of signs alone is no word for the index, and matches nothing."""
    return "\0" not in word and any(character.isalnum() for character in word)


def _matching(
    connection: apsw.Connection, search: GraphWords, kind: GraphKind, expression: str, limit: int
) -> list[GraphItemId]:
    start, end = search.happened
    values: Values = {
        "expression": expression,
        "namespace": search.namespace,
        "limit": limit,
        "start": BEFORE_ALL if start is None else to_text(start),
        "end": AFTER_ALL if end is None else to_text(end),
        "as_of": None if search.as_of is None else to_text(search.as_of),
    }
    statement = (statements.SEARCH_CURRENT if search.as_of is None else statements.SEARCH_AS_OF)[kind]
    return [GraphItemId(item_id) for (item_id,) in connection.execute(statement, values)]


def list_entity_names(connection: apsw.Connection, *, namespace: Namespace) -> list[EntityName]:
    """See ``GraphReads.list_entity_names``."""
    return [
        EntityName(GraphItemId(id_), (name, *json.loads(aliases)), EntityType(type_), count, from_text(last))
        for id_, name, aliases, type_, count, last in connection.execute(statements.NAMES, {"namespace": namespace})
    ]


def get_items(
    connection: apsw.Connection, *, namespace: Namespace, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, GraphItem]:
    """See ``GraphReads.get_graph_items``."""
    found: dict[GraphItemId, GraphItem] = {}
    for kind in {kind_of(item_id) for item_id in item_ids} - {None}:
        assert kind is not None, "taken off above"
        wanted = [item_id for item_id in item_ids if kind_of(item_id) is kind]
        values = {"namespace": namespace, "ids": json.dumps(wanted)}
        for row in connection.execute(statements.GET_ITEMS[kind], values):
            item = to_item(kind, row)
            found[item.item_id] = item
    return {item_id: found[item_id] for item_id in item_ids if item_id in found}


def list_items(connection: apsw.Connection, *, query: GraphList) -> list[GraphItem]:
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
    return [to_item(query.kind, row) for row in connection.execute(statement, values)]


def get_evidence(
    connection: apsw.Connection, *, item_ids: Collection[GraphItemId]
) -> dict[GraphItemId, tuple[Evidence, ...]]:
    """See ``GraphReads.get_graph_evidence``."""
    found: dict[GraphItemId, list[Evidence]] = {item_id: [] for item_id in item_ids}
    values = {"ids": json.dumps(list(item_ids))}
    for item_id, event_id, observed_at, weight in connection.execute(statements.EVIDENCE, values):
        found[item_id].append(Evidence(item_id, event_id, from_text(observed_at), weight))
    return {item_id: tuple(evidence) for item_id, evidence in found.items()}


def count_items(connection: apsw.Connection, *, namespace: Namespace) -> dict[GraphKind, int]:
    """See ``GraphReads.count_graph_items``."""
    values = {"namespace": namespace}
    return {kind: connection.execute(statement, values).get for kind, statement in statements.COUNT_CURRENT.items()}


def list_without_vector(connection: apsw.Connection, *, model: str, limit: int) -> list[GraphItem]:
    """See ``GraphReads.list_graph_items_without_vector``."""
    found: list[GraphItem] = []
    for kind in EMBEDDED_KINDS:
        values = {"model": model, "limit": limit - len(found)}
        found += [to_item(kind, row) for row in connection.execute(statements.WITHOUT_VECTOR[kind], values)]
    return found


def load_vectors(connection: apsw.Connection, *, namespace: Namespace, model: str, after: int) -> GraphVectors:
    """See ``GraphReads.load_graph_vectors``."""
    values = {"namespace": namespace, "model": model, "after": after}
    rows: list[Row] = connection.execute(statements.VECTORS, values).fetchall()
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f4")
    return GraphVectors(
        item_ids=tuple(GraphItemId(row[1]) for row in rows),
        rows=vectors.reshape(len(rows), -1) if rows else vectors.reshape(0, 0),
        through=rows[-1][0] if rows else after,
        total=connection.execute(statements.COUNT_VECTORS, {"namespace": namespace, "model": model}).get,
    )


def _texts(connection: apsw.Connection, *, statement: str, values: Values) -> list[str]:
    return [text for (text,) in connection.execute(statement, values)]
