"""The schema of the first kiro-learn, as its documents describe it, so that its database is taken over as it is."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.runner import Migration

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
# SQLite cannot alter a CHECK, so the table is built again.
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
