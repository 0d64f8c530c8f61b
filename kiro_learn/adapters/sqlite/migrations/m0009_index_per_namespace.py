"""Index the words of each namespace apart, so that what others hold changes neither scores nor cost.

bm25 weighs a word by how many documents of its table hold it. In one table for all, another project's records would
change the order of yours.
"""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite.migrations.migration import Migration, MigrationContext, unreadable_row

CREATE = """
    CREATE VIRTUAL TABLE records_fts_{number:d} USING fts5 (
        title, summary, facts, concepts, files,
        content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    )
"""
FILL = """
    INSERT INTO records_fts_{number:d} (rowid, title, summary, facts, concepts, files)
        SELECT number, title, summary,
               (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(facts_json)),
               (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(concepts_json)),
               (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(files_touched_json))
          FROM memory_records
         WHERE namespace_number = {number:d}
"""
NO_LIST = """
    SELECT CAST(record_id AS BLOB)
      FROM memory_records
     WHERE coalesce(json_valid(facts_json) AND json_valid(concepts_json) AND json_valid(files_touched_json), 0) = 0
     LIMIT 1
"""
DROP_OLD = """
    DROP TABLE IF EXISTS memory_records_fts_vocab;
    DROP TABLE IF EXISTS memory_records_fts;
"""


def _split(connection: apsw.Connection, _context: MigrationContext) -> None:
    for (record_id,) in connection.execute(NO_LIST):
        problem = "has facts, concepts or files that are no JSON"
        raise unreadable_row(connection, "memory_records", record_id.decode("utf-8", "replace"), problem)
    filled = connection.execute("SELECT number FROM namespaces WHERE last_record > 0 ORDER BY number").fetchall()
    for (number,) in filled:
        connection.execute(CREATE.format(number=number))
        connection.execute(FILL.format(number=number))
    connection.execute(DROP_OLD)


MIGRATION = Migration(9, "index_per_namespace", _split)
