"""Note which events lost their contents by age, and which records were distilled."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    33,
    "retention",
    """
    ALTER TABLE events ADD COLUMN expired_at TEXT;
    ALTER TABLE events ADD COLUMN expired_bytes INTEGER;
    ALTER TABLE memory_records ADD COLUMN distilled_at TEXT;
    ALTER TABLE replaced_records ADD COLUMN distilled_at TEXT;
    """,
)
