"""All SQL of the graph. Statements that differ only by the kind of item are made from the tables below, at import.

Rules of this file: a caller's values are bound, never part of a text; the names of tables and columns are ours.
"""
# ruff: noqa: S608  # all texts are put together of names of this file

from __future__ import annotations

import attrs

from kiro_learn.adapters.sqlite.statements import insertion
from kiro_learn.model.graph import (
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphKind,
    Preference,
    Procedure,
    Relationship,
    Validity,
)

VALUE_TYPES: dict[GraphKind, type[GraphItem]] = {
    GraphKind.ENTITY: Entity,
    GraphKind.RELATIONSHIP: Relationship,
    GraphKind.FACT: Fact,
    GraphKind.PROCEDURE: Procedure,
    GraphKind.PREFERENCE: Preference,
}
TABLES = {
    GraphKind.ENTITY: "graph_entities",
    GraphKind.RELATIONSHIP: "graph_relationships",
    GraphKind.FACT: "graph_facts",
    GraphKind.PROCEDURE: "graph_procedures",
    GraphKind.PREFERENCE: "graph_preferences",
}
LISTS = {GraphKind.ENTITY: "aliases", GraphKind.PROCEDURE: "steps"}
"""The field of each kind that is a list. It is stored as JSON, and as a text for the index of words."""
FOUND_BY = {GraphKind.ENTITY: ("folded_name",), GraphKind.FACT: ("object_key",)}
"""Columns by which items of a kind are looked up, and that are no field of the item."""
VALIDITY = tuple(field.name for field in attrs.fields(Validity))
EVIDENCE_COLUMNS = tuple(field.name for field in attrs.fields(Evidence))


def _columns(kind: GraphKind) -> tuple[str, ...]:
    names: list[str] = []
    for field in attrs.fields(VALUE_TYPES[kind]):
        if field.name == "item_id":
            names.append("id")
        elif field.name == "validity":
            names += VALIDITY
        elif field.name == LISTS.get(kind):
            names.append(f"{field.name}_json")
        elif field.name != "namespace":
            names.append(field.name)
    return tuple(names)


COLUMNS = {kind: _columns(kind) for kind in GraphKind}
"""The columns of an item, in the order in which they are read, after the namespace."""
_SELECTED = {kind: ", ".join(("n.namespace", *(f"i.{column}" for column in COLUMNS[kind]))) for kind in GraphKind}
_FROM = {kind: f"{TABLES[kind]} AS i JOIN namespaces AS n ON n.number = i.namespace_number" for kind in GraphKind}
_OF_NAMESPACE = {
    kind: f"SELECT {_SELECTED[kind]} FROM {_FROM[kind]} WHERE n.namespace = :namespace" for kind in GraphKind
}

_HOLDS = "i.valid_until IS NULL AND i.retired_at IS NULL"
_HELD = (
    "i.retired_at IS NULL AND coalesce(i.valid_from, i.observed_at) <= :as_of"
    " AND (i.valid_until IS NULL OR i.valid_until > :as_of)"
)
_CURRENT = {
    GraphKind.ENTITY: "TRUE",
    GraphKind.RELATIONSHIP: _HOLDS,
    GraphKind.FACT: f"{_HOLDS} AND i.is_candidate = 0",
    GraphKind.PROCEDURE: "i.superseded_by IS NULL",
    GraphKind.PREFERENCE: _HOLDS,
}
_AS_OF = _CURRENT | {
    GraphKind.RELATIONSHIP: _HELD,
    GraphKind.FACT: f"{_HELD} AND i.is_candidate = 0",
    GraphKind.PREFERENCE: _HELD,
}
_LISTED_AS_OF = _AS_OF | {
    GraphKind.ENTITY: "i.first_seen <= :as_of",
    GraphKind.PROCEDURE: """i.created_at <= :as_of AND (i.superseded_by IS NULL OR EXISTS (
        SELECT 1 FROM graph_procedures AS s WHERE s.id = i.superseded_by AND s.created_at > :as_of))""",
}
"""The conditions of lists. A search uses ``_AS_OF``: it finds today's entities and procedures for any time."""
_ABOUT = {
    GraphKind.FACT: "i.entity_id = :about",
    GraphKind.RELATIONSHIP: "(i.source_id = :about OR i.target_id = :about)",
}
_NAMED = {
    GraphKind.ENTITY: ("name", "aliases_text"),
    GraphKind.RELATIONSHIP: ("type",),
    GraphKind.FACT: ("subject", "predicate", "object"),
    GraphKind.PROCEDURE: ("name", "trigger"),
    GraphKind.PREFERENCE: ("key", "value"),
}
"""The columns by which lists are filtered."""
SEARCHED = {
    GraphKind.ENTITY: {"name": 1.0, "description": 1.0, "aliases_text": 1.0},
    GraphKind.FACT: {"subject": 1.0, "predicate": 1.0, "object": 1.0},
    GraphKind.PROCEDURE: {"name": 1.0, "trigger": 0.8, "steps_text": 0.3},
}
"""The columns of the index of words, with their weights in bm25."""


def _put(kind: GraphKind) -> str:
    listed = LISTS.get(kind)
    names = [*COLUMNS[kind], *([f"{listed}_text"] if listed else [])]
    names += FOUND_BY.get(kind, ())
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name != "id")
    return f"""
    {insertion(TABLES[kind], "namespace_number", *names)}
    ON CONFLICT (id) DO UPDATE SET {changes}
     WHERE {TABLES[kind]}.namespace_number = excluded.namespace_number RETURNING 1
    """


def _listed(kind: GraphKind, condition: str) -> str:
    named = " OR ".join(f"instr(lower(i.{name}), lower(:text))" for name in _NAMED[kind])
    about = f"AND (:about IS NULL OR {_ABOUT[kind]})" if kind in _ABOUT else ""
    return f"""
    {_OF_NAMESPACE[kind]} AND {condition} AND i.id < :before AND (:text = '' OR {named}) {about}
     ORDER BY i.id DESC LIMIT :limit
    """


def _search(kind: GraphKind, condition: str) -> str:
    table, weights = TABLES[kind], ", ".join(map(str, SEARCHED[kind].values()))
    return f"""
    SELECT i.id FROM {table}_fts JOIN {table} AS i ON i.seq = {table}_fts.rowid
      JOIN namespaces AS n ON n.number = i.namespace_number
     WHERE {table}_fts MATCH :expression AND n.namespace = :namespace AND {condition}
     ORDER BY bm25({table}_fts, {weights}), i.id LIMIT :limit
    """


PUT_ITEM = {kind: _put(kind) for kind in GraphKind}
DELETE_ITEM = {kind: f"DELETE FROM {TABLES[kind]} WHERE id = :id" for kind in GraphKind}
NUMBER_OF_ITEM = {kind: f"SELECT namespace_number FROM {TABLES[kind]} WHERE id = :id" for kind in GraphKind}
GET_ITEMS = {kind: f"{_OF_NAMESPACE[kind]} AND i.id IN (SELECT value FROM json_each(:ids))" for kind in GraphKind}
LIST_ALL = {kind: _listed(kind, "TRUE") for kind in GraphKind}
LIST_CURRENT = {kind: _listed(kind, _CURRENT[kind]) for kind in GraphKind}
LIST_AS_OF = {kind: _listed(kind, _LISTED_AS_OF[kind]) for kind in GraphKind}
FIND_ITEMS = {kind: f"{_OF_NAMESPACE[kind]} ORDER BY i.id" for kind in (GraphKind.PROCEDURE, GraphKind.PREFERENCE)}
# Along graph_facts_of_entity, and along graph_facts_by_object.
FIND_FACTS = f"""
    {_OF_NAMESPACE[GraphKind.FACT]} AND i.id IN (
        SELECT f.id FROM json_each(:about) AS near CROSS JOIN json_each(:predicates) AS said
               CROSS JOIN graph_facts AS f ON f.entity_id = near.value AND f.predicate = said.value
         UNION ALL
        SELECT f.id FROM json_each(:objects) AS named CROSS JOIN json_each(:about) AS near
               CROSS JOIN graph_facts AS f ON f.object_key = named.value AND f.entity_id = near.value)
     ORDER BY i.id
"""
FIND_FACTS_THAT_NAME = f"""
    {_OF_NAMESPACE[GraphKind.FACT]} AND i.id IN (
        SELECT f.id FROM json_each(:objects) AS named CROSS JOIN graph_facts AS f ON f.object_key = named.value)
     ORDER BY i.id
"""
# Both along graph_relationships_from.
FIND_RELATIONSHIPS = f"""
    {_OF_NAMESPACE[GraphKind.RELATIONSHIP]} AND i.id IN (
        SELECT r.id FROM json_each(:sources) AS near CROSS JOIN json_each(:of_any) AS said
               CROSS JOIN graph_relationships AS r ON r.source_id = near.value AND r.type = said.value
         UNION ALL
        SELECT r.id FROM json_each(:sources) AS near CROSS JOIN json_each(:types) AS said
               CROSS JOIN json_each(:targets) AS far
               CROSS JOIN graph_relationships AS r
                       ON r.source_id = near.value AND r.type = said.value AND r.target_id = far.value)
     ORDER BY i.id
"""
FIND_BY_NAME = f"""
    {_OF_NAMESPACE[GraphKind.ENTITY]} AND i.id IN (
           SELECT entity_id FROM graph_entity_names AS m
            WHERE m.namespace_number = n.number AND m.folded_name IN (SELECT value FROM json_each(:names)))
     ORDER BY i.id
"""


def _facts(condition: str) -> str:
    """The facts of highest confidence of each entity, and of all these the best."""
    return f"""
    SELECT {_SELECTED[GraphKind.FACT]} FROM (
        SELECT i.*, row_number() OVER (PARTITION BY i.entity_id ORDER BY i.confidence DESC, i.id) AS place
          FROM json_each(:ids) AS near CROSS JOIN graph_facts AS i ON i.entity_id = near.value WHERE {condition}
    ) AS i JOIN namespaces AS n ON n.number = i.namespace_number
     WHERE i.place <= :per_node AND n.namespace = :namespace
     ORDER BY i.confidence DESC, i.id LIMIT :most
    """


def _edges(condition: str) -> str:
    """The count of each entity's edges, and the ends of those of highest confidence, the best first."""
    ends = (
        ("i.source_id = near.value", "i.target_id"),
        ("i.target_id = near.value AND i.source_id <> near.value", "i.source_id"),
    )
    halves = " UNION ALL ".join(
        f"""
        SELECT near.value AS near_id, {other} AS other_id, i.confidence, i.id
          FROM json_each(:ids) AS near CROSS JOIN graph_relationships AS i ON {end}
               CROSS JOIN namespaces AS n ON n.number = i.namespace_number
         WHERE i.confidence > :min_confidence AND n.namespace = :namespace AND {condition}"""
        for end, other in ends
    )
    return f"""
    SELECT near_id, degree, other_id FROM (
        SELECT e.*, row_number() OVER (PARTITION BY near_id ORDER BY confidence DESC, id) AS place,
               count(*) OVER (PARTITION BY near_id) AS degree FROM ({halves}) AS e)
     WHERE place <= :per_node ORDER BY confidence DESC, id
    """


SEARCH_CURRENT = {kind: _search(kind, _CURRENT[kind]) for kind in SEARCHED}
SEARCH_AS_OF = {kind: _search(kind, _AS_OF[kind]) for kind in SEARCHED}
FACTS_OF = _facts(_CURRENT[GraphKind.FACT])
FACTS_OF_AT = _facts(_AS_OF[GraphKind.FACT])
CANDIDATES_OF = _facts(f"{_HOLDS} AND i.is_candidate = 1")
EDGES_OF = _edges(_CURRENT[GraphKind.RELATIONSHIP])
EDGES_OF_AT = _edges(_AS_OF[GraphKind.RELATIONSHIP])
PUT_VECTOR = {
    kind: f"""
    INSERT OR REPLACE INTO graph_vectors (item_id, namespace_number, model_digest, vector)
    SELECT id, namespace_number, :digest, :vector FROM {TABLES[kind]} WHERE id = :id
    """
    for kind in SEARCHED
}
WITHOUT_VECTOR = {
    kind: f"""
    SELECT {_SELECTED[kind]} FROM {TABLES[kind]} AS i CROSS JOIN namespaces AS n ON n.number = i.namespace_number
     WHERE {_CURRENT[kind]} AND NOT EXISTS (
           SELECT 1 FROM graph_vectors AS v WHERE v.item_id = i.id AND v.model_digest = :digest)
     ORDER BY i.seq
    """
    for kind in SEARCHED
}
VECTORS = """
    SELECT v.seq, v.item_id, v.vector FROM namespaces AS n JOIN graph_vectors AS v ON v.namespace_number = n.number
     WHERE n.namespace = :namespace AND v.model_digest = :digest AND v.seq > :after ORDER BY v.seq
"""
COUNT_VECTORS = """
    SELECT count(*) FROM namespaces AS n JOIN graph_vectors AS v ON v.namespace_number = n.number
     WHERE n.namespace = :namespace AND v.model_digest = :digest
"""
NAMESPACES_OF = """
    SELECT namespace FROM namespaces WHERE number IN (SELECT value FROM json_each(:numbers)) ORDER BY number
"""
DELETE_NAMES = "DELETE FROM graph_entity_names WHERE entity_id = :id"
PUT_NAME = """
    INSERT OR IGNORE INTO graph_entity_names (namespace_number, folded_name, entity_id) VALUES (:number, :name, :id)
"""
PUT_EVIDENCE = insertion("graph_evidence", *EVIDENCE_COLUMNS, verb="INSERT OR REPLACE")
EVIDENCE = f"""
    SELECT {", ".join(EVIDENCE_COLUMNS)} FROM graph_evidence
     WHERE item_id IN (SELECT value FROM json_each(:ids)) ORDER BY item_id, observed_at, event_id
"""
DELETE_EVIDENCE = "DELETE FROM graph_evidence WHERE item_id = :item_id AND event_id = :event_id"
EVENTS_OF_ITEM_AND_ITS_OWN = """
    SELECT event_id, min(observed_at) FROM graph_evidence
     WHERE item_id IN (SELECT :id
                        UNION ALL SELECT id FROM graph_facts WHERE entity_id = :id
                        UNION ALL SELECT id FROM graph_relationships WHERE source_id = :id OR target_id = :id)
     GROUP BY event_id
"""
# Keeps the event of a forgotten item, without anything that the item said.
PUT_EVENT_OF_FORGOTTEN = """
    INSERT INTO graph_evidence (item_id, event_id, observed_at, weight) VALUES (:id, :event_id, :observed_at, 0.0)
"""
EVENTS_AMONG = """
    SELECT DISTINCT event_id FROM graph_evidence WHERE event_id IN (SELECT value FROM json_each(:event_ids))
"""
DELETE_EVIDENCE_OF = "DELETE FROM graph_evidence WHERE event_id IN (SELECT value FROM json_each(:event_ids))"
ITEMS_OF_EVENTS_ALONE = """
    SELECT DISTINCT e.item_id FROM graph_evidence AS e
     WHERE e.event_id IN (SELECT value FROM json_each(:event_ids))
       AND NOT EXISTS (SELECT 1 FROM graph_evidence AS o WHERE o.item_id = e.item_id
                        AND o.event_id NOT IN (SELECT value FROM json_each(:event_ids)))
"""
# All items, past ones too, in the order in which they were added; the reader stops it when it has enough for now.
ALL_ITEMS = {
    kind: f"""
    SELECT {_SELECTED[kind]} FROM {TABLES[kind]} AS i CROSS JOIN namespaces AS n ON n.number = i.namespace_number
     ORDER BY i.seq
    """
    for kind in GraphKind
}


def _list_of(column: str) -> str:
    """The list in ``column``; an empty one if the column is damaged."""
    return f"CASE WHEN json_valid({column}) AND json_type({column}) = 'array' THEN {column} ELSE '[]' END"


_PICTURED = f"""
    SELECT r.record_id, n.namespace, r.created_at, coalesce(r.knowledge_type, r.observation_type), r.title,
           {_list_of("r.concepts_json")}, {_list_of("r.files_touched_json")}, {_list_of("r.source_event_ids_json")}"""
_NEWEST_FIRST = "ORDER BY r.created_at DESC, r.record_id DESC LIMIT :limit"
# Along records_of_namespace or records_by_time, from the newest end.
PICTURE_RECORDS_OF_NAMESPACE = f"""{_PICTURED}
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace {_NEWEST_FIRST}
"""
PICTURE_RECORDS_OF_ALL = f"""{_PICTURED}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number {_NEWEST_FIRST}
"""
PICTURE_ENTITIES = f"""
    SELECT i.id, n.namespace, i.last_referenced, i.type, i.name FROM {_FROM[GraphKind.ENTITY]}
     WHERE :namespace IS NULL OR n.namespace = :namespace ORDER BY i.mention_count DESC, i.id LIMIT :limit
"""
PICTURE_EDGES = f"""
    SELECT i.source_id, i.target_id, i.type
      FROM json_each(:ids) AS near CROSS JOIN graph_relationships AS i ON i.source_id = near.value WHERE {_HOLDS}
"""
