"""The branch on which a record was learned, until that is merged."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

CHANGE = """
    ALTER TABLE memory_records ADD COLUMN branch TEXT;
    ALTER TABLE replaced_records ADD COLUMN branch TEXT;
    CREATE INDEX records_by_branch ON memory_records (namespace_number, branch, created_at) WHERE branch IS NOT NULL;
    CREATE INDEX replaced_by_branch ON replaced_records (namespace_number, branch) WHERE branch IS NOT NULL;
"""

MIGRATION = Migration(37, "branches", CHANGE)
