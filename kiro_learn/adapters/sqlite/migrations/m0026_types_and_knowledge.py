"""Let knowledge and checkpoints be listed without a look at every record of their project."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    26,
    "types_and_knowledge",
    """
    CREATE INDEX records_of_knowledge ON memory_records (namespace_number, created_at, record_id)
     WHERE knowledge_type IS NOT NULL;
    CREATE INDEX records_by_capture_type ON memory_records (namespace_number, capture_type, created_at, record_id)
     WHERE capture_type IS NOT NULL;
    """,
)
