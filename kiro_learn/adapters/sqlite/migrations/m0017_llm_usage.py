"""Keep books on what models were asked, by day and project."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    17,
    "llm_usage",
    """
    CREATE TABLE llm_usage (
        day TEXT NOT NULL,
        namespace TEXT NOT NULL,
        call_count INTEGER NOT NULL,
        failure_count INTEGER NOT NULL,
        characters_in INTEGER NOT NULL,
        characters_out INTEGER NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (day, namespace)
    ) STRICT, WITHOUT ROWID;
    """,
)
