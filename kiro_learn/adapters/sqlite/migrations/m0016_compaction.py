"""Let a row of the buffer be a compaction, which is no stored event, and let rows be parked.

The last position that was given moves to the new table too: the rows that are left may be older than it.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    16,
    "compaction",
    """
    CREATE TABLE buffer_new (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
        is_parked INTEGER NOT NULL DEFAULT 0 CHECK (is_parked IN (0, 1)),
        size_bytes INTEGER NOT NULL,
        event_count INTEGER NOT NULL DEFAULT 1,
        event_id TEXT UNIQUE REFERENCES events (event_id),
        compaction_json TEXT,
        stands_for_json TEXT,
        CHECK ((event_id IS NULL) = (compaction_json IS NOT NULL)),
        CHECK ((event_id IS NULL) = (stands_for_json IS NOT NULL))
    ) STRICT;
    INSERT INTO buffer_new (position, namespace_number, event_id, size_bytes)
        SELECT position, namespace_number, event_id, size_bytes FROM buffer;
    DELETE FROM sqlite_sequence WHERE name = 'buffer_new';
    INSERT INTO sqlite_sequence (name, seq) SELECT 'buffer_new', seq FROM sqlite_sequence WHERE name = 'buffer';
    DROP TABLE buffer;
    ALTER TABLE buffer_new RENAME TO buffer;
    CREATE INDEX buffer_of_namespace ON buffer (namespace_number, is_parked, position, size_bytes, event_count);
    """,
)
