"""Queries about the graph."""

from __future__ import annotations

import json
from collections.abc import Collection

import apsw

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.graph_picture import read_picture
from kiro_learn.adapters.sqlite.graph_rows import folded, items_in, to_evidence
from kiro_learn.adapters.sqlite.graph_vectors import list_without_vector, load_vectors
from kiro_learn.adapters.sqlite.graph_walk import walk_graph
from kiro_learn.adapters.sqlite.readers import reading, reading_sound
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.model.graph import Entity, Evidence, Fact, GraphItem, GraphItemId, GraphKind, kind_of
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.graph import GraphList, GraphWords
from kiro_learn.retrieval.query.syntax import has_words, match_expression

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
