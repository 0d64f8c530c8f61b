"""Steps of the schema: those of the first kiro-learn, and our own since ``todays_schema.py``.

The former are as the first kiro-learn's documents describe them, so that its database can be taken over.
"""

from __future__ import annotations

from typing import Any

import apsw

from kiro_learn.adapters.sqlite.migrations.runner import Migration, MigrationContext
from kiro_learn.model.graph import bare

INIT = """
    CREATE TABLE events (
        event_id TEXT PRIMARY KEY,
        parent_event_id TEXT,
        session_id TEXT NOT NULL,
        actor_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        schema_version INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body_json TEXT NOT NULL,
        valid_time TEXT NOT NULL,
        transaction_time TEXT NOT NULL,
        source_json TEXT NOT NULL,
        content_hash TEXT
    ) STRICT;
    CREATE INDEX idx_events_namespace_valid_time ON events (namespace, valid_time DESC);
    CREATE INDEX idx_events_session ON events (session_id);
    CREATE INDEX idx_events_parent ON events (parent_event_id);

    CREATE TABLE memory_records (
        record_id TEXT PRIMARY KEY,
        namespace TEXT NOT NULL,
        strategy TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        facts_json TEXT NOT NULL,
        source_event_ids_json TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX idx_memory_records_namespace ON memory_records (namespace, created_at DESC);

    CREATE VIRTUAL TABLE memory_records_fts USING fts5 (
        record_id UNINDEXED,
        namespace UNINDEXED,
        title,
        summary,
        facts_text,
        tokenize = 'porter unicode61 remove_diacritics 2'
    );
    """
EXTRACTION_FIELDS = """
    ALTER TABLE memory_records ADD COLUMN concepts_json TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE memory_records ADD COLUMN files_touched_json TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE memory_records ADD COLUMN observation_type TEXT NOT NULL DEFAULT 'tool_use'
        CHECK (observation_type IN ('tool_use', 'decision', 'error', 'discovery', 'pattern'));
    """
PROJECT_PATH = """
    ALTER TABLE events ADD COLUMN project_path TEXT;
    CREATE INDEX idx_events_namespace_project_path ON events (namespace, project_path);
    """
# SQLite cannot alter a CHECK, so the table is made anew.
SESSION_SUMMARY_TYPE = """
    CREATE TABLE memory_records_new (
        record_id TEXT PRIMARY KEY,
        namespace TEXT NOT NULL,
        strategy TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        facts_json TEXT NOT NULL,
        source_event_ids_json TEXT NOT NULL,
        created_at TEXT NOT NULL,
        concepts_json TEXT NOT NULL DEFAULT '[]',
        files_touched_json TEXT NOT NULL DEFAULT '[]',
        observation_type TEXT NOT NULL DEFAULT 'tool_use'
            CHECK (observation_type IN ('tool_use', 'decision', 'error', 'discovery', 'pattern', 'session_summary'))
    ) STRICT;
    INSERT INTO memory_records_new
        SELECT record_id, namespace, strategy, title, summary, facts_json, source_event_ids_json, created_at,
               concepts_json, files_touched_json, observation_type
          FROM memory_records
         ORDER BY rowid;
    DROP TABLE memory_records;
    ALTER TABLE memory_records_new RENAME TO memory_records;
    CREATE INDEX idx_memory_records_namespace ON memory_records (namespace, created_at DESC);
    """

FIRST_MIGRATIONS = (
    Migration(1, "init", INIT),
    Migration(2, "xml_extraction_fields", EXTRACTION_FIELDS),
    Migration(3, "project_path", PROJECT_PATH),
    Migration(4, "session_summary_type", SESSION_SUMMARY_TYPE),
    Migration(5, "memory_record_embedding", "ALTER TABLE memory_records ADD COLUMN embedding BLOB DEFAULT NULL"),
)


# Ids only. The id of an ``erasure`` is a project's number; it stays until the project's remains are overwritten.
_SELECTIVE_FORGETTING = """
    CREATE TABLE doomed (
        kind TEXT NOT NULL CHECK (kind IN ('record', 'event', 'item', 'project', 'erasure', 'copies')),
        id TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
"""

SELECTIVE_FORGETTING = Migration(34, "selective_forgetting", _SELECTIVE_FORGETTING)


# An empty session_id stands for the whole project.
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
    """The ``object_key`` of a fact. It takes bytes, because SQLite keeps text that is not UTF-8."""
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
