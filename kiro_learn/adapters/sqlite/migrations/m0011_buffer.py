"""Let events wait for their project's next learning run, as rows that are committed with them.

AUTOINCREMENT: a position is never given twice, so clearing up to one cannot clear what came later.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    11,
    "buffer",
    """
    CREATE TABLE buffer (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        event_id TEXT NOT NULL UNIQUE REFERENCES events (event_id),
        size_bytes INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX buffer_of_namespace ON buffer (namespace_number, position, size_bytes);
    """,
)
