"""What was added to the schema since ``todays_schema.py``, oldest first: tables, columns and indexes."""

from __future__ import annotations

from typing import Any

import apsw

from kiro_learn.adapters.sqlite.migrations.runner import Migration, MigrationContext
from kiro_learn.model.graph import bare

# Ids only. An erasure is a project's number, until what is left of it in the file is overwritten.
_SELECTIVE_FORGETTING = """
    CREATE TABLE doomed (
        kind TEXT NOT NULL CHECK (kind IN ('record', 'event', 'item', 'project', 'erasure', 'copies')),
        id TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
"""

SELECTIVE_FORGETTING = Migration(34, "selective_forgetting", _SELECTIVE_FORGETTING)


# An empty session_id stands for all of a project.
_PROJECT_NAMES_AND_PAUSES = """
    ALTER TABLE namespaces ADD COLUMN name TEXT;
    ALTER TABLE namespaces ADD COLUMN folder TEXT;
    ALTER TABLE namespaces ADD COLUMN merged_into INTEGER REFERENCES namespaces (number);
    CREATE TABLE pauses (
        namespace TEXT NOT NULL,
        session_id TEXT NOT NULL,
        since TEXT NOT NULL,
        PRIMARY KEY (namespace, session_id)
    ) STRICT, WITHOUT ROWID;
"""

PROJECT_NAMES_AND_PAUSES = Migration(35, "project_names_and_pauses", _PROJECT_NAMES_AND_PAUSES)


_MEMORY_FEEDBACK = """
    CREATE TABLE memory_feedback (
        record_id TEXT PRIMARY KEY,
        helped INTEGER NOT NULL,
        wrong INTEGER NOT NULL,
        used INTEGER NOT NULL,
        ignored INTEGER NOT NULL,
        objected INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER memory_feedback_gone AFTER DELETE ON memory_records
    BEGIN
        DELETE FROM memory_feedback WHERE record_id = old.record_id;
    END;
"""

MEMORY_FEEDBACK = Migration(36, "memory_feedback", _MEMORY_FEEDBACK)


_BRANCHES = """
    ALTER TABLE memory_records ADD COLUMN branch TEXT;
    ALTER TABLE replaced_records ADD COLUMN branch TEXT;
    CREATE INDEX records_by_branch ON memory_records (namespace_number, branch, created_at) WHERE branch IS NOT NULL;
    CREATE INDEX replaced_by_branch ON replaced_records (namespace_number, branch) WHERE branch IS NOT NULL;
"""

BRANCHES = Migration(37, "branches", _BRANCHES)


_GRAPH_LOOKUP = """
    ALTER TABLE graph_preferences ADD COLUMN path TEXT NOT NULL DEFAULT '';
    ALTER TABLE graph_facts ADD COLUMN object_key TEXT NOT NULL DEFAULT '';
    UPDATE graph_facts SET object_key = key_of(CAST(object AS BLOB));
    DROP INDEX graph_facts_of_entity;
    CREATE INDEX graph_facts_of_entity ON graph_facts (entity_id, predicate);
    CREATE INDEX graph_facts_by_object ON graph_facts (object_key, entity_id);
    DROP INDEX graph_relationships_from;
    CREATE INDEX graph_relationships_from ON graph_relationships (source_id, type, target_id);
"""


def _key_of(*values: Any) -> str:
    """Of bytes, because SQLite keeps text that is no UTF-8."""
    return bare(values[0].decode("utf-8", "replace"))


def _change(connection: apsw.Connection, _: MigrationContext) -> None:
    connection.create_scalar_function("key_of", _key_of, 1)
    try:
        connection.execute(_GRAPH_LOOKUP)
    finally:
        connection.create_scalar_function("key_of", None, 1)


GRAPH_LOOKUP = Migration(39, "graph_lookup", _change)


_PINS = """
    ALTER TABLE memory_records ADD COLUMN pinned_at TEXT;
    ALTER TABLE replaced_records ADD COLUMN pinned_at TEXT;
    CREATE INDEX records_pinned ON memory_records (created_at, record_id) WHERE pinned_at IS NOT NULL;
"""

PINS = Migration(40, "pins", _PINS)
