"""Facts are found by their objects, edges by both ends, and a preference may hold below a path only."""

from __future__ import annotations

from typing import Any

import apsw

from kiro_learn.adapters.sqlite.migrations.migration import Migration, MigrationContext
from kiro_learn.model.graph import bare

CHANGE = """
    ALTER TABLE graph_preferences ADD COLUMN path TEXT NOT NULL DEFAULT '';
    ALTER TABLE graph_facts ADD COLUMN object_key TEXT NOT NULL DEFAULT '';
    UPDATE graph_facts SET object_key = key_of(CAST(object AS BLOB));
    DROP INDEX graph_facts_of_entity;
    CREATE INDEX graph_facts_of_entity ON graph_facts (entity_id, predicate);
    CREATE INDEX graph_facts_by_object ON graph_facts (object_key, entity_id);
    DROP INDEX graph_relationships_from;
    CREATE INDEX graph_relationships_from ON graph_relationships (source_id, type, target_id);
"""


def _key_of(*values: Any) -> str:
    """Of bytes, because SQLite keeps text that is no UTF-8."""
    return bare(values[0].decode("utf-8", "replace"))


def _change(connection: apsw.Connection, _: MigrationContext) -> None:
    connection.create_scalar_function("key_of", _key_of, 1)
    try:
        connection.execute(CHANGE)
    finally:
        connection.create_scalar_function("key_of", None, 1)


MIGRATION = Migration(39, "graph_lookup", _change)
