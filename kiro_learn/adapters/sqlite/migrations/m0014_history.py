"""Keep records that made way for others, so that they can be seen and put back.

They stand in a table of their own, row for row as they were: nothing that reads ``memory_records`` can find one.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    14,
    "history",
    """
    CREATE TABLE replacements (
        number INTEGER PRIMARY KEY,
        replacement_id TEXT NOT NULL UNIQUE,
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        reason TEXT NOT NULL CHECK (reason IN ('merged', 'relearned')),
        replaced_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE replacing_records (
        replacement_number INTEGER NOT NULL REFERENCES replacements (number) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        record_id TEXT NOT NULL UNIQUE,
        PRIMARY KEY (replacement_number, place)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE replaced_records (
        number INTEGER PRIMARY KEY,
        replacement_number INTEGER NOT NULL REFERENCES replacements (number),
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        record_id TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        strategy TEXT NOT NULL,
        observation_type TEXT NOT NULL,
        knowledge_type TEXT,
        importance INTEGER,
        origin TEXT,
        stale_at TEXT,
        embedding_set_aside TEXT,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        facts_json TEXT NOT NULL,
        concepts_json TEXT NOT NULL,
        files_touched_json TEXT NOT NULL,
        files_read_json TEXT NOT NULL,
        files_modified_json TEXT NOT NULL,
        source_event_ids_json TEXT NOT NULL,
        embedding BLOB
    ) STRICT;
    CREATE INDEX replaced_with ON replaced_records (replacement_number, record_id);
    """,
)
