"""Keep what an observation that was captured directly has beside a learned record, and what tells its repeats."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

COLUMNS = ("capture_type", "captured_text", "details_json", "content_hash")
TABLES = ("memory_records", "replaced_records")

MIGRATION = Migration(
    25,
    "direct_observations",
    "".join(f"ALTER TABLE {table} ADD COLUMN {column} TEXT;" for table in TABLES for column in COLUMNS)
    + """
    CREATE INDEX records_by_content_hash ON memory_records (namespace_number, content_hash, created_at, record_id)
     WHERE content_hash IS NOT NULL;
    """,
)
