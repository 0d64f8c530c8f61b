"""From the first kiro-learn's schema to ours in one step: no version between the two was ever released."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import apsw

from kiro_learn.adapters.sqlite.migrations.first_buffers import take_over
from kiro_learn.adapters.sqlite.migrations.migration import Migration, MigrationContext, unreadable_row
from kiro_learn.adapters.sqlite.migrations.moving import CREATE_WORDS, FILL_WORDS, move_to_namespaces_in_use
from kiro_learn.model.moment import from_text, to_text

SCHEMA = Path(__file__).with_name("schema.sql")

# Every moment is written one way (UTC, microseconds, Z), so that text order is time order. Ids and moments come as
# bytes, because SQLite keeps text that is no UTF-8, and the row has to be named all the same.
EVENTS = """
    DROP INDEX IF EXISTS idx_events_namespace_valid_time;
    DROP INDEX IF EXISTS idx_events_session;
    DROP INDEX IF EXISTS idx_events_parent;
    DROP INDEX IF EXISTS idx_events_namespace_project_path;
    ALTER TABLE events ADD COLUMN expired_at TEXT;
    ALTER TABLE events ADD COLUMN expired_bytes INTEGER;
    UPDATE events
       SET valid_time = one_format('events', CAST(event_id AS BLOB), CAST(valid_time AS BLOB)),
           transaction_time = one_format('events', CAST(event_id AS BLOB), CAST(transaction_time AS BLOB));
    CREATE INDEX events_by_time ON events (valid_time, event_id);
    CREATE INDEX events_of_namespace ON events (namespace, valid_time, event_id);
    CREATE INDEX events_of_session ON events (namespace, session_id, kind);
"""
SET_RECORDS_ASIDE = """
    DROP TABLE IF EXISTS memory_records_fts_vocab;
    DROP TABLE IF EXISTS memory_records_fts;
    DROP INDEX IF EXISTS idx_memory_records_namespace;
    ALTER TABLE memory_records RENAME TO first_records;
"""
RECORDS = """
    INSERT INTO namespaces (namespace)
        SELECT namespace FROM events UNION SELECT namespace FROM first_records ORDER BY 1;
    INSERT INTO memory_records (
        number, namespace_number, record_id, created_at, strategy, observation_type, title, summary, facts_json,
        concepts_json, files_touched_json, source_event_ids_json, embedding)
        SELECT (n.number << 32) | row_number() OVER (PARTITION BY n.number ORDER BY r.rowid), n.number, r.record_id,
               one_format('memory_records', CAST(r.record_id AS BLOB), CAST(r.created_at AS BLOB)),
               r.strategy, r.observation_type, r.title, r.summary, r.facts_json, r.concepts_json, r.files_touched_json,
               r.source_event_ids_json, r.embedding
          FROM first_records AS r JOIN namespaces AS n ON n.namespace = r.namespace;
    UPDATE namespaces
       SET last_record = (SELECT count(*) FROM memory_records AS r WHERE r.namespace_number = namespaces.number);
    DROP TABLE first_records;
"""
NO_LIST = """
    SELECT CAST(record_id AS BLOB)
      FROM memory_records
     WHERE coalesce(json_valid(facts_json) AND json_valid(concepts_json) AND json_valid(files_touched_json), 0) = 0
     LIMIT 1
"""
WITH_RECORDS = "SELECT number FROM namespaces WHERE last_record > 0 ORDER BY number"


def _one_format(connection: apsw.Connection, table: str, owner: bytes, moment: bytes) -> str:
    text = moment.decode("utf-8", "replace")
    try:
        return to_text(from_text(text))
    except ValueError as error:
        problem = f"has the time {text!r}, which is none"
        raise unreadable_row(connection, table, owner.decode("utf-8", "replace"), problem) from error


def _change(connection: apsw.Connection, context: MigrationContext) -> None:
    connection.create_scalar_function("one_format", partial(_one_format, connection), 3, deterministic=True)
    try:
        for part in (EVENTS, SET_RECORDS_ASIDE, SCHEMA.read_text(encoding="utf-8"), RECORDS):
            connection.execute(part)
    finally:
        connection.create_scalar_function("one_format", None, 3)
    for (record_id,) in connection.execute(NO_LIST):
        problem = "has facts, concepts or files that are no JSON"
        raise unreadable_row(connection, "memory_records", record_id.decode("utf-8", "replace"), problem)
    for (number,) in connection.execute(WITH_RECORDS).fetchall():
        connection.execute(CREATE_WORDS.format(number=number))
        connection.execute(FILL_WORDS.format(number=number), {"last_number": 0})
    moved = move_to_namespaces_in_use(connection, context)
    if context.first_buffers is not None:
        take_over(connection, context.first_buffers, moved)


MIGRATION = Migration(33, "todays_schema", _change, development_versions=range(6, 33), development_name="retention")


def missing_tables(connection: apsw.Connection) -> list[str]:
    """Those of today's schema that a database lacks which was brought to it."""
    wanted = ["events", *re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", SCHEMA.read_text("utf-8"), re.MULTILINE)]
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return [name for name in wanted if name not in there]
