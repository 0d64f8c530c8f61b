"""A record's vector: 1,536 bytes, or NULL until there is one."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(5, "memory_record_embedding", "ALTER TABLE memory_records ADD COLUMN embedding BLOB DEFAULT NULL")
