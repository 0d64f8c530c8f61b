"""Keep the vectors of a record's passages beside it; those of older records are made in the background."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    22,
    "passages",
    """
    ALTER TABLE memory_records ADD COLUMN passage_codes BLOB;
    CREATE INDEX records_without_passages ON memory_records (created_at, record_id)
     WHERE passage_codes IS NULL AND embedding IS NOT NULL;
    """,
)
