"""Let a session be told items of the graph too; what goes from the graph was told to no session."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

_TOLD = ("graph_entities", "graph_facts", "graph_procedures", "graph_preferences")


def _goes(table: str) -> str:
    return f"""
    CREATE TRIGGER {table}_told_gone AFTER DELETE ON {table} BEGIN
     DELETE FROM session_told WHERE item_id = old.id;
    END;
    """  # noqa: S608  # the names are ours


MIGRATION = Migration(
    32,
    "told_items",
    """
    DROP INDEX session_told_by_record;
    ALTER TABLE session_told RENAME COLUMN record_id TO item_id;
    CREATE INDEX session_told_by_item ON session_told (item_id);
    """
    + "".join(map(_goes, _TOLD)),
)
