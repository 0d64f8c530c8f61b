"""Keep what an observation that was captured directly has beside a learned record, and what tells its repeats.

And digests of the files that a record cites, which tell whether it is stale.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

COLUMNS = ("capture_type", "captured_text", "details_json", "content_hash")
TABLES = ("memory_records", "replaced_records")

MIGRATION = Migration(
    25,
    "direct_observations",
    "".join(f"ALTER TABLE {table} ADD COLUMN {column} TEXT;" for table in TABLES for column in COLUMNS)
    + """
    ALTER TABLE memory_records ADD COLUMN file_digests_json TEXT;
    CREATE INDEX records_by_content_hash ON memory_records (namespace_number, content_hash, created_at, record_id)
     WHERE content_hash IS NOT NULL;
    """,
)
