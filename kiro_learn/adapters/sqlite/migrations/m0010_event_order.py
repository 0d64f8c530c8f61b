"""Serve the lists of events, and what was said before in a session, without sorting."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    10,
    "event_order",
    """
    CREATE INDEX events_by_time ON events (valid_time, event_id);
    CREATE INDEX events_of_namespace ON events (namespace, valid_time, event_id);
    CREATE INDEX events_of_session ON events (namespace, session_id, kind);
    DROP INDEX IF EXISTS idx_events_namespace_valid_time;
    """,
)
