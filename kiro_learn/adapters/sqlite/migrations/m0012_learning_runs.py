"""Keep books on the learning runs."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    12,
    "learning_runs",
    """
    CREATE TABLE learning_runs (
        run_id TEXT PRIMARY KEY,
        namespace TEXT NOT NULL,
        strategy TEXT NOT NULL,
        started_at TEXT NOT NULL,
        finished_at TEXT NOT NULL,
        event_count INTEGER NOT NULL,
        record_count INTEGER NOT NULL,
        problem TEXT
    ) STRICT;
    CREATE INDEX learning_runs_by_time ON learning_runs (started_at, run_id);
    """,
)
