"""Find entities, facts and procedures of the graph by words.

The tables have ``secure-delete``, so what is deleted leaves no word in them; triggers keep them in step.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

SEARCHED = {
    "graph_entities": ("name", "description", "aliases_text"),
    "graph_facts": ("subject", "predicate", "object"),
    "graph_procedures": ("name", "trigger", "steps_text"),
}


def _words_of(table: str, columns: tuple[str, ...]) -> str:
    names, old, new = (", ".join(f"{before}{column}" for column in columns) for before in ("", "old.", "new."))
    put = f"INSERT INTO {table}_fts (rowid, {names}) VALUES (new.seq, {new});"  # noqa: S608  # the names are ours
    take_out = f"INSERT INTO {table}_fts ({table}_fts, rowid, {names}) VALUES ('delete', old.seq, {old});"  # noqa: S608  # the names are ours
    return f"""
    CREATE VIRTUAL TABLE {table}_fts USING fts5 ({names}, content = '{table}', content_rowid = 'seq',
     tokenize = 'porter unicode61 remove_diacritics 2');
    INSERT INTO {table}_fts ({table}_fts, rank) VALUES ('secure-delete', 1);
    INSERT INTO {table}_fts ({table}_fts) VALUES ('rebuild');
    CREATE TRIGGER {table}_put AFTER INSERT ON {table} BEGIN {put} END;
    CREATE TRIGGER {table}_out AFTER DELETE ON {table} BEGIN {take_out} END;
    CREATE TRIGGER {table}_set AFTER UPDATE OF {names} ON {table} BEGIN {take_out} {put} END;
    """  # noqa: S608  # the names are ours


MIGRATION = Migration(30, "graph_words", "".join(_words_of(table, columns) for table, columns in SEARCHED.items()))
