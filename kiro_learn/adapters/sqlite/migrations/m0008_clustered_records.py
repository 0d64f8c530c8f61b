"""Keep the records of a namespace together, in the order they came, and make room for what is known of them since.

A record's ``number`` is its namespace's number in the upper 32 bits and its own in the lower. It is declared, since an
undeclared rowid may change when the database is vacuumed, and the index of words would then point at strangers.
The embedding comes last: a row's early columns are read without its overflow pages.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    8,
    "clustered_records",
    """
    CREATE TABLE memory_records_new (
        number INTEGER PRIMARY KEY,
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number) CHECK (namespace_number = number >> 32),
        record_id TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        strategy TEXT NOT NULL,
        observation_type TEXT NOT NULL
            CHECK (observation_type IN ('tool_use', 'decision', 'error', 'discovery', 'pattern', 'session_summary')),
        knowledge_type TEXT CHECK (knowledge_type IN ('constraint', 'decision', 'heuristic', 'rejected')),
        importance INTEGER CHECK (importance BETWEEN 1 AND 10),
        origin TEXT CHECK (origin IN ('user', 'assistant', 'tool', 'import', 'api')),
        stale_at TEXT,
        embedding_set_aside TEXT,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        facts_json TEXT NOT NULL,
        concepts_json TEXT NOT NULL DEFAULT '[]',
        files_touched_json TEXT NOT NULL DEFAULT '[]',
        files_read_json TEXT NOT NULL DEFAULT '[]',
        files_modified_json TEXT NOT NULL DEFAULT '[]',
        source_event_ids_json TEXT NOT NULL,
        embedding BLOB
    ) STRICT;
    INSERT INTO memory_records_new (
        number, namespace_number, record_id, created_at, strategy, observation_type, title, summary, facts_json,
        concepts_json, files_touched_json, source_event_ids_json, embedding)
        SELECT (n.number << 32) | row_number() OVER (PARTITION BY n.number ORDER BY r.rowid),
               n.number, r.record_id, r.created_at, r.strategy, r.observation_type, r.title, r.summary, r.facts_json,
               r.concepts_json, r.files_touched_json, r.source_event_ids_json, r.embedding
          FROM memory_records AS r JOIN namespaces AS n ON n.namespace = r.namespace;
    UPDATE namespaces
       SET last_record = (SELECT count(*) FROM memory_records_new AS r WHERE r.namespace_number = namespaces.number);
    DROP TABLE memory_records;
    ALTER TABLE memory_records_new RENAME TO memory_records;
    CREATE INDEX records_by_time ON memory_records (created_at, record_id);
    CREATE INDEX records_of_namespace ON memory_records (namespace_number, created_at, record_id);
    CREATE INDEX records_without_embedding ON memory_records (created_at, record_id)
        WHERE embedding IS NULL AND embedding_set_aside IS NULL;
    """,
)
