"""Statements of the store, as PostgreSQL reads them.

One set of statements serves both stores. Most of it is the SQL that SQLite and PostgreSQL share; functions that
PostgreSQL lacks (``json_each``, ``instr``, …) are made in its schema by ``functions.sql``. The rest is spelled in
another way: the rules below change a few words of a statement, never its meaning.
"""

# ruff: noqa: S608  # statements are put together of our own names

from __future__ import annotations

import functools
import re

from kiro_learn.adapters.sqlite import merging

_SPELLINGS = (
    (r"%", "%%"),  # psycopg's own mark
    # PostgreSQL decides by its statistics which index serves and which table is read first.
    (r" INDEXED BY \w+", ""),
    (r"CROSS JOIN(\s+\w+(?:\((?:[^()]|\([^()]*\))*\))?(?: AS \w+)?\s+ON\b)", r"JOIN\1"),
    # The hits of an index of words come as two lists: numbers and scores.
    (
        r"\w+_fts(?:_\d+)? (?:CROSS )?JOIN (\w+ AS \w) ON (\w\.\w+) = \w+_fts(?:_\d+)?\.rowid",
        r"unnest(:found::bigint[], :scores::float8[]) AS f (number, score) JOIN \1 ON \2 = f.number",
    ),
    (r"\w+_fts(?:_\d+)? MATCH :expression AND ", ""),
    (r"bm25\([^)]*\)", "f.score"),
    (r"LIMIT :limit", "LIMIT nullif(:limit, -1)"),
    # Case is ignored for ASCII letters only.
    (r"(\S+) = (:\w+) COLLATE NOCASE", r'lower(\1 COLLATE "C") = lower(\2 COLLATE "C")'),
    (r"lower\((:\w+)\)", r'lower(\1 COLLATE "C")'),
    # Lists of numbers.
    (r"json_each\(:numbers\)", "json_numbers(:numbers)"),
    # Bytes of a text: the connection reads a varchar as bytes.
    (r"CAST\(", "("),
    (r" AS BLOB\)", ")::varchar"),
    (r"\bx''", "''::bytea"),
    # The SQL standard's functions of these names give another type.
    (r"json_array\(", "json_list("),
    (r"json_group_array\(", "json_list_of("),
    # Equality that also compares NULL.
    (r"IS NOT ('\w+')", r"IS DISTINCT FROM \1"),
    (r"IS ('\w+')", r"IS NOT DISTINCT FROM \1"),
    (r"(?<!:):([a-z_]+)\b", r"%(\1)s"),
)
_KEYS = {
    "graph_evidence": ("item_id", "event_id"),
    "graph_vectors": ("item_id",),
    "hook_sessions": ("key",),
    "learning_runs": ("run_id",),
    "parked_clusters": ("cluster_id",),
    "pauses": ("namespace", "session_id"),
    "session_told": ("namespace_number", "session_id", "item_id"),
}
"""The keys of the tables whose new rows replace a row with the same key."""
_NUMBERS = {"graph_vectors": "seq", "session_told": "number"}
"""The column that gets a new number when a row replaces another one."""


_NUMBERED = ("namespace_number", "target", "source")
_WRITTEN_APART = {
    "BEGIN IMMEDIATE": "BEGIN",
    **{
        statement: f"""
        DELETE FROM {table} AS t USING {table} AS o
         WHERE t.{by} = :{stays} AND o.{by} = :{goes} AND {" AND ".join(f"t.{key} = o.{key}" for key in keys)};
        {re.sub(r"UPDATE OR [A-Z]+", "UPDATE", statement)}
        """
        for statement, table, by, stays, goes, keys in (
            (merging.JOIN_EVIDENCE, "graph_evidence", "item_id", "id", "twin", ("event_id",)),
            (merging.MOVE_TOLD, "session_told", *_NUMBERED, ("session_id", "item_id")),
            (merging.MOVE_FORGOTTEN, "forgotten", *_NUMBERED, ("event_id", "digest")),
            (merging.MOVE_PAUSES, "pauses", "namespace", "target_name", "source_name", ("session_id",)),
        )
    },
}
"""Statements that PostgreSQL cannot spell, by SQLite's text. An update deletes first the rows whose key would be taken
already."""


@functools.cache
def translated(statement: str) -> str:
    """``statement`` for psycopg, with ``%(name)s`` for each ``:name``."""
    text = _WRITTEN_APART.get(statement, statement)
    for pattern, replacement in _SPELLINGS:
        text = re.sub(pattern, replacement, text)
    if ignoring := re.match(r"\s*INSERT OR IGNORE", text):
        text = f"INSERT{text[ignoring.end() :]} ON CONFLICT DO NOTHING"
    if replacing := re.match(r"\s*INSERT OR REPLACE INTO (\w+) \(([^)]*)\)", text):
        text = _replacing(text, *replacing.groups())
    return text


def _replacing(text: str, table: str, columns: str) -> str:
    names = [name.strip() for name in columns.split(",")]
    names += [_NUMBERS[table]] if table in _NUMBERS else []
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in _KEYS[table])
    plain = re.sub(r"^\s*INSERT OR REPLACE", "INSERT", text)
    return f"{plain} ON CONFLICT ({', '.join(_KEYS[table])}) DO UPDATE SET {changes}"
