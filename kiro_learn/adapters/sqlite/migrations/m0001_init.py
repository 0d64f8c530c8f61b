"""Events, records and the words of the records, as the first kiro-learn had them."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    1,
    "init",
    """
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
    """,
)
