"""Keep one vector of each entity, fact and procedure; it goes when the item goes, or when its text changes."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.m0030_graph_words import SEARCHED
from kiro_learn.adapters.sqlite.migrations.migration import Migration

_TABLE = """
CREATE TABLE graph_vectors (seq INTEGER PRIMARY KEY AUTOINCREMENT, item_id TEXT NOT NULL UNIQUE,
 namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
 model_digest TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX graph_vectors_of_namespace ON graph_vectors (namespace_number, model_digest, seq);
"""


def _follows(table: str, columns: tuple[str, ...]) -> str:
    is_changed = " OR ".join(f"old.{column} <> new.{column}" for column in columns)
    gone = "DELETE FROM graph_vectors WHERE item_id = old.id;"
    return f"""
    CREATE TRIGGER {table}_vector_gone AFTER DELETE ON {table} BEGIN {gone} END;
    CREATE TRIGGER {table}_vector_old AFTER UPDATE OF {", ".join(columns)} ON {table} WHEN {is_changed}
     BEGIN {gone} END;
    """


MIGRATION = Migration(
    31, "graph_vectors", _TABLE + "".join(_follows(table, columns) for table, columns in SEARCHED.items())
)
