"""What a forgetting that is under way has still to remove, so that the next daemon ends it."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

# Ids only. An erasure is a project's number, until what is left of it in the file is overwritten.
CHANGE = """
    CREATE TABLE doomed (
        kind TEXT NOT NULL CHECK (kind IN ('record', 'event', 'item', 'project', 'erasure', 'copies')),
        id TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
"""

MIGRATION = Migration(34, "selective_forgetting", CHANGE)
