"""Number the namespaces: a record's rowid will begin with its namespace's number, and so will the name of its index.

``last_record`` is the last number that was given to a record of the namespace. It only grows, so that no rowid is ever
given twice: an index that forgot one record can never mistake another one for it.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    6,
    "namespaces",
    """
    CREATE TABLE namespaces (
        number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 2147483647),
        namespace TEXT NOT NULL UNIQUE,
        last_record INTEGER NOT NULL DEFAULT 0 CHECK (last_record BETWEEN 0 AND 4294967295)
    ) STRICT;
    INSERT INTO namespaces (namespace)
        SELECT namespace FROM events UNION SELECT namespace FROM memory_records ORDER BY 1;
    """,
)
