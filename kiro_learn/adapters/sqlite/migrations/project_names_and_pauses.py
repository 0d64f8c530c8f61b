"""Names that people gave their projects, projects that were merged into others, and pauses."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

# An empty session_id stands for all of a project.
CHANGE = """
    ALTER TABLE namespaces ADD COLUMN name TEXT;
    ALTER TABLE namespaces ADD COLUMN folder TEXT;
    ALTER TABLE namespaces ADD COLUMN merged_into INTEGER REFERENCES namespaces (number);
    CREATE TABLE pauses (
        namespace TEXT NOT NULL,
        session_id TEXT NOT NULL,
        since TEXT NOT NULL,
        PRIMARY KEY (namespace, session_id)
    ) STRICT, WITHOUT ROWID;
"""

MIGRATION = Migration(35, "project_names_and_pauses", CHANGE)
