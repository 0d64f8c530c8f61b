"""One more type of record. SQLite cannot alter a CHECK, so the table is built again."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    4,
    "session_summary_type",
    """
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
    """,
)
