"""Move what is kept under one namespace to another."""

from __future__ import annotations

from typing import Any

import apsw

from kiro_learn.adapters.sqlite.migrations.migration import MigrationContext
from kiro_learn.model.namespace import Namespace

KEPT = """
    SELECT n.number, n.namespace, n.last_record,
           (SELECT e.actor_id FROM events AS e WHERE e.namespace = n.namespace LIMIT 1),
           (SELECT e.project_path FROM events AS e
             WHERE e.namespace = n.namespace AND e.project_path IS NOT NULL LIMIT 1)
      FROM namespaces AS n
     ORDER BY n.number
"""
NUMBER_OF = "SELECT number, last_record FROM namespaces WHERE namespace = ?"
PUT_NAMESPACE = "INSERT INTO namespaces (namespace) VALUES (?) RETURNING number, last_record"

# A record keeps its place among those of its namespace; also one that was replaced, since it may come back.
MOVE = """
    UPDATE events SET namespace = :namespace WHERE namespace = :old_namespace;
    UPDATE memory_records
       SET namespace_number = :number, number = (:number << 32) | (:last_record + (number & 0xffffffff))
     WHERE namespace_number = :old_number;
    UPDATE replaced_records
       SET namespace_number = :number, number = (:number << 32) | (:last_record + (number & 0xffffffff))
     WHERE namespace_number = :old_number;
    UPDATE replacements SET namespace_number = :number WHERE namespace_number = :old_number;
    UPDATE buffer
       SET namespace_number = :number, compaction_json = json_set(compaction_json, '$.namespace', :namespace)
     WHERE namespace_number = :old_number;
    UPDATE parked_clusters
       SET namespace = :namespace,
           records_json = (SELECT json_group_array(json_set(value, '$.namespace', :namespace))
                             FROM json_each(records_json))
     WHERE namespace = :old_namespace;
    UPDATE learning_runs SET namespace = :namespace WHERE namespace = :old_namespace;
    INSERT INTO llm_usage (day, namespace, call_count, failure_count, characters_in, characters_out, seconds)
        SELECT day, :namespace, call_count, failure_count, characters_in, characters_out, seconds
          FROM llm_usage
         WHERE namespace = :old_namespace
        ON CONFLICT (day, namespace) DO UPDATE
           SET call_count = call_count + excluded.call_count,
               failure_count = failure_count + excluded.failure_count,
               characters_in = characters_in + excluded.characters_in,
               characters_out = characters_out + excluded.characters_out,
               seconds = seconds + excluded.seconds;
    DELETE FROM llm_usage WHERE namespace = :old_namespace;
    UPDATE namespaces SET last_record = :last_record + :old_last_record WHERE number = :number;
    DELETE FROM namespaces WHERE number = :old_number;
"""
DROP_WORDS = "DROP TABLE IF EXISTS records_fts_{number:d}"
CREATE_WORDS = """
    CREATE VIRTUAL TABLE IF NOT EXISTS records_fts_{number:d} USING fts5 (
        title, summary, facts, concepts, files,
        content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    )
"""
FILL_WORDS = """
    INSERT INTO records_fts_{number:d} (rowid, title, summary, facts, concepts, files)
        SELECT number, title, summary,
               (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(facts_json)),
               (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(concepts_json)),
               (SELECT coalesce(group_concat(value, char(10)), '')
                  FROM (SELECT value
                          FROM (SELECT 1 AS list, key, value FROM json_each(files_touched_json)
                                UNION ALL SELECT 2, key, value FROM json_each(files_read_json)
                                UNION ALL SELECT 3, key, value FROM json_each(files_modified_json))
                         GROUP BY value ORDER BY min(list), min(key)))
          FROM memory_records
         WHERE namespace_number = {number:d} AND number > :last_number
"""


def move_to_namespaces_in_use(connection: apsw.Connection, context: MigrationContext) -> dict[str, Namespace]:
    """Move what stands under a namespace that hooks do not use to the one they use; answers which went where."""
    moved: dict[str, Namespace] = {}
    kept: list[tuple[Any, ...]] = connection.execute(KEPT).fetchall()
    for number, namespace, last_record, actor_id, project_path in kept:
        in_use = context.namespace_in_use(namespace, actor_id, project_path)
        if in_use != namespace:
            old = {"old_number": number, "old_namespace": namespace, "old_last_record": last_record}
            _move(connection, old, in_use)
            moved[namespace] = in_use
    return moved


def number_of(connection: apsw.Connection, namespace: str) -> tuple[int, int]:
    """The namespace's number, made if it has none yet, and the last number of its records."""
    found: tuple[int, int] | None = connection.execute(NUMBER_OF, (namespace,)).fetchone()
    made: tuple[int, int] = found or connection.execute(PUT_NAMESPACE, (namespace,)).get
    return made


def _move(connection: apsw.Connection, old: dict[str, str | int], namespace: Namespace) -> None:
    number, last_record = number_of(connection, namespace)
    connection.execute(MOVE, old | {"number": number, "last_record": last_record, "namespace": namespace})
    connection.execute(DROP_WORDS.format(number=old["old_number"]))
    if old["old_last_record"]:
        connection.execute(CREATE_WORDS.format(number=number))
        connection.execute(FILL_WORDS.format(number=number), {"last_number": number << 32 | last_record})
