"""What a record is about: its concepts, its files and its type."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    2,
    "xml_extraction_fields",
    """
    ALTER TABLE memory_records ADD COLUMN concepts_json TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE memory_records ADD COLUMN files_touched_json TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE memory_records ADD COLUMN observation_type TEXT NOT NULL DEFAULT 'tool_use'
        CHECK (observation_type IN ('tool_use', 'decision', 'error', 'discovery', 'pattern'));
    """,
)
