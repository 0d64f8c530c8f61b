"""From the first kiro-learn's schema to ours in one step: no version between the two was ever released.

Rows are moved to the namespace that hooks use today, and events that waited in its buffers wait in ours. A buffer was a
file ``buffer.ndjson`` in a folder for each project. It has a line for each event, which is stored too, or for a summary
of several events, which is stored nowhere else. The files stay, for people who go back to the first kiro-learn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import apsw
import structlog

from kiro_learn.adapters.sqlite.migrations.runner import Migration, MigrationContext, unreadable_row
from kiro_learn.model.ids import ULID_PATTERN, from_text, to_text
from kiro_learn.model.namespace import NAMESPACE_PATTERN, Namespace, within_our_limits

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

# A record keeps its place among those of its namespace. So does a replaced one, since it may come back.
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
    """Move rows of namespaces that hooks do not use to those that they use; answers the new one of each old one."""
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
    """The namespace's number, which is made if it has none, and the last number of its records."""
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


log = structlog.get_logger()

SUMMARY = "compact_"
"""The beginning of the id of a summary's line; a ULID follows."""

PUT_SUMMARY = """
    INSERT OR IGNORE INTO events (
        event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time, transaction_time,
        source_json)
    VALUES (:event_id, :event_id, :actor_id, :namespace, 1, 'session_summary', :body_json, :moment, :moment,
            :source_json)
"""
STORED = "SELECT namespace, octet_length(body_json) FROM events WHERE event_id = ?"
PUT_BUFFERED = "INSERT OR IGNORE INTO buffer (namespace_number, event_id, size_bytes) VALUES (?, ?, ?)"


def take_over(connection: apsw.Connection, folder: Path, moved: Mapping[str, Namespace]) -> None:
    """Enter all lines of all buffers in ``folder``, in order. ``moved``: the new namespace for each old one."""
    taken = left = 0
    for path in sorted(folder.glob("*/buffer.ndjson")):
        for entry in _entries(path):
            is_taken = entry is not None and _enter(connection, entry, moved)
            taken += is_taken
            left += not is_taken
    if taken or left:
        log.info("storage.first_buffers_taken", event_count=taken, unknown_count=left)


def _entries(path: Path) -> Iterator[dict[str, Any] | None]:
    """The entry in each line; None for a damaged line. A file that cannot be read is left as it is."""
    if not path.is_file():  # opening a pipe would wait for ever
        log.warning("storage.first_buffer_unreadable", problem="is no file")
        return
    try:
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    yield _parsed(line)
    except OSError as error:
        log.warning("storage.first_buffer_unreadable", problem=error.strerror)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        entry["event_id"].encode()  # an escape may be a lone surrogate, which SQLite refuses
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    return cast("dict[str, Any]", entry)


def _enter(connection: apsw.Connection, entry: dict[str, Any], moved: Mapping[str, Namespace]) -> bool:
    event_id = str(entry["event_id"])
    if event_id.startswith(SUMMARY):
        event_id = event_id.removeprefix(SUMMARY)
        summary = _summary(event_id, entry, moved)
        if summary is None:
            return False
        connection.execute(PUT_SUMMARY, summary)
    stored = connection.execute(STORED, (event_id,)).fetchone()
    if stored is None:
        return False
    namespace, size_bytes = stored
    connection.execute(PUT_BUFFERED, (number_of(connection, namespace)[0], event_id, size_bytes))
    return True


def _summary(event_id: str, entry: dict[str, Any], moved: Mapping[str, Namespace]) -> dict[str, str] | None:
    """The row of an event with the summary's text; None if the line is no summary."""
    try:
        old = entry["namespace"]
        namespace = moved.get(old) or within_our_limits(old, actor_id="")
        namespace.encode()
        _, _, actor_id, _, _, _ = namespace.split("/")
        body = {"type": "text", "content": entry["body"]["content"].encode("utf-8", "replace").decode()}
        moment = to_text(from_text(entry["timestamp"]))
        source = {"surface": entry["surface"], "version": "0", "client_id": "kiro-learn"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    are_names = ULID_PATTERN.fullmatch(event_id) and NAMESPACE_PATTERN.fullmatch(namespace)
    if not are_names or not isinstance(source["surface"], str):
        return None
    texts = {"body_json": json.dumps(body), "source_json": json.dumps(source), "moment": moment}
    return {"event_id": event_id, "actor_id": actor_id, "namespace": namespace} | texts


SCHEMA = Path(__file__).with_name("schema.sql")

# Every time is written in one form (UTC, microseconds, Z), so that text order is time order. Ids and times come as
# bytes, because SQLite keeps text that is not UTF-8, and an error has to name its row.
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
    """The tables of today's schema that a database lacks, although it was migrated to that schema."""
    wanted = ["events", *re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", SCHEMA.read_text("utf-8"), re.MULTILINE)]
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return [name for name in wanted if name not in there]
