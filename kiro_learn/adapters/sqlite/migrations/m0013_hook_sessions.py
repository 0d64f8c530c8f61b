"""Remember which session an agent that names none is in."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    13,
    "hook_sessions",
    """
    CREATE TABLE hook_sessions (
        key TEXT PRIMARY KEY,
        session_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
)
