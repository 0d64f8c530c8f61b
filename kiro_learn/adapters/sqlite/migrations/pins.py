"""When a person pinned a record."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

CHANGE = """
    ALTER TABLE memory_records ADD COLUMN pinned_at TEXT;
    ALTER TABLE replaced_records ADD COLUMN pinned_at TEXT;
    CREATE INDEX records_pinned ON memory_records (created_at, record_id) WHERE pinned_at IS NOT NULL;
"""

MIGRATION = Migration(40, "pins", CHANGE)
