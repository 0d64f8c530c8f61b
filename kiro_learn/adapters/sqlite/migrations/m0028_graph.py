"""Keep the graph memory: entities, relationships, facts, procedures, preferences, and what they are from.

Names are a table, so that finding an entity by a name reads one row of an index. Each table has a number of its own
beside its id, for full-text tables to refer to: VACUUM may renumber rows that have none.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

_NAMESPACE = "namespace_number INTEGER NOT NULL REFERENCES namespaces (number)"
_KEYS = f"seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, {_NAMESPACE}"
_VALIDITY = "valid_from TEXT, valid_until TEXT, observed_at TEXT NOT NULL, retired_at TEXT"
_SOURCE_TYPE = "source_type TEXT NOT NULL CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected'))"
_OUTCOME = "TEXT CHECK ({0} IN ('success', 'failure', 'partial', 'pending'))"


def _share(column: str) -> str:
    return f"{column} REAL NOT NULL CHECK ({column} BETWEEN 0 AND 1)"


_TABLES = f"""
CREATE TABLE graph_entities ({_KEYS}, name TEXT NOT NULL, folded_name TEXT NOT NULL,
 type TEXT NOT NULL CHECK (type IN
  ('person', 'organization', 'project', 'concept', 'location', 'tool', 'event', 'other')),
 description TEXT NOT NULL, aliases_json TEXT NOT NULL, aliases_text TEXT NOT NULL,
 importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
 mention_count INTEGER NOT NULL, first_seen TEXT NOT NULL, last_referenced TEXT NOT NULL,
 UNIQUE (namespace_number, folded_name, type)) STRICT;

CREATE TABLE graph_entity_names (namespace_number INTEGER NOT NULL, folded_name TEXT NOT NULL, entity_id TEXT NOT NULL
  REFERENCES graph_entities (id) ON DELETE CASCADE ON UPDATE CASCADE,
 PRIMARY KEY (namespace_number, folded_name, entity_id)) WITHOUT ROWID, STRICT;
CREATE INDEX graph_names_of_entity ON graph_entity_names (entity_id);

CREATE TABLE graph_relationships ({_KEYS},
 source_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
 target_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
 type TEXT NOT NULL, {_share("confidence")}, {_VALIDITY}) STRICT;
CREATE INDEX graph_relationships_from ON graph_relationships (source_id);
CREATE INDEX graph_relationships_to ON graph_relationships (target_id);

CREATE TABLE graph_facts ({_KEYS},
 entity_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
 subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL, {_share("confidence")}, {_SOURCE_TYPE},
 is_candidate INTEGER NOT NULL, superseded_by TEXT, last_confirmed_at TEXT NOT NULL, {_VALIDITY}) STRICT;
CREATE INDEX graph_facts_of_entity ON graph_facts (entity_id);

CREATE TABLE graph_procedures ({_KEYS}, name TEXT NOT NULL, trigger TEXT NOT NULL, steps_json TEXT NOT NULL,
 steps_text TEXT NOT NULL, {_share("confidence")}, {_SOURCE_TYPE}, success_count INTEGER NOT NULL,
 failure_count INTEGER NOT NULL, last_used TEXT, last_outcome {_OUTCOME.format("last_outcome")},
 version INTEGER NOT NULL, superseded_by TEXT, created_at TEXT NOT NULL) STRICT;

CREATE TABLE graph_preferences ({_KEYS},
 category TEXT NOT NULL CHECK (category IN
  ('communication', 'formatting', 'workflow', 'tools', 'scheduling', 'other')),
 key TEXT NOT NULL, value TEXT NOT NULL, {_share("strength")}, evidence_count INTEGER NOT NULL, {_SOURCE_TYPE},
 superseded_by TEXT, last_confirmed_at TEXT NOT NULL, {_VALIDITY}) STRICT;

CREATE TABLE graph_evidence (item_id TEXT NOT NULL, event_id TEXT NOT NULL, observed_at TEXT NOT NULL,
 weight REAL NOT NULL, PRIMARY KEY (item_id, event_id)) WITHOUT ROWID, STRICT;
CREATE INDEX graph_evidence_of_event ON graph_evidence (event_id);
"""

ITEM_TABLES = ("graph_entities", "graph_relationships", "graph_facts", "graph_procedures", "graph_preferences")


def _with_its_item(table: str) -> str:
    return f"""
    CREATE INDEX {table}_of_namespace ON {table} (namespace_number, id);
    CREATE TRIGGER {table}_gone AFTER DELETE ON {table} BEGIN
     DELETE FROM graph_evidence WHERE item_id = old.id;
    END;
    """  # noqa: S608  # the names are ours


MIGRATION = Migration(
    28,
    "graph",
    _TABLES + "".join(_with_its_item(table) for table in ITEM_TABLES),
)
