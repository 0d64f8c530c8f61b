"""Where the project of an event was, so that lists can show a folder instead of a hash."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    3,
    "project_path",
    """
    ALTER TABLE events ADD COLUMN project_path TEXT;
    CREATE INDEX idx_events_namespace_project_path ON events (namespace, project_path);
    """,
)
