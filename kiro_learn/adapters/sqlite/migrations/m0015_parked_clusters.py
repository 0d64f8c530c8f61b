"""Keep what was learned and could not be committed, until it can."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    15,
    "parked_clusters",
    """
    CREATE TABLE parked_clusters (
        cluster_id TEXT PRIMARY KEY,
        namespace TEXT NOT NULL,
        records_json TEXT NOT NULL,
        problem TEXT NOT NULL,
        attempt_count INTEGER NOT NULL,
        retry_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX parked_clusters_of_namespace ON parked_clusters (namespace, cluster_id);
    """,
)
