"""Keep what each session was told, so that it is told nothing twice, also after a restart."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    24,
    "session_told",
    """
    CREATE TABLE session_told (
        number INTEGER PRIMARY KEY,
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        session_id TEXT NOT NULL,
        record_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        UNIQUE (namespace_number, session_id, record_id)
    ) STRICT;
    CREATE INDEX session_told_by_record ON session_told (record_id);
    """,
)
