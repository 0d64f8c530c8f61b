"""Drop the indexes of events that no statement reads: each is one more place that every event is written to."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    18,
    "unread_indexes",
    """
    DROP INDEX IF EXISTS idx_events_session;
    DROP INDEX IF EXISTS idx_events_parent;
    DROP INDEX IF EXISTS idx_events_namespace_project_path;
    """,
)
