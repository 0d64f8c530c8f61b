"""Remember what was forgotten, by the events it was learned from and a digest of its words, so that it stays so."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    20,
    "forgotten",
    """
    CREATE TABLE forgotten (
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        event_id TEXT NOT NULL,
        digest BLOB NOT NULL,
        PRIMARY KEY (namespace_number, event_id, digest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX forgotten_by_digest ON forgotten (namespace_number, digest);
    """,
)
