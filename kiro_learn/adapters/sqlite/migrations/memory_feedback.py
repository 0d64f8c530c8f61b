"""What became of memories that were told, which goes with them."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

CHANGE = """
    CREATE TABLE memory_feedback (
        record_id TEXT PRIMARY KEY,
        helped INTEGER NOT NULL,
        wrong INTEGER NOT NULL,
        used INTEGER NOT NULL,
        ignored INTEGER NOT NULL,
        objected INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER memory_feedback_gone AFTER DELETE ON memory_records
    BEGIN
        DELETE FROM memory_feedback WHERE record_id = old.record_id;
    END;
"""

MIGRATION = Migration(36, "memory_feedback", CHANGE)
