"""SQL about projects, events, learning, sessions and the file. A comment before a statement names its index.

The functions at the top make parts of statements, for the other files of this folder too.

Rules of this file: values are bound, never written into the text. Only a table's name cannot be bound:
``for_namespace`` makes ``records_fts_<number>`` from an integer and nothing else.
"""
# ruff: noqa: S608  # all texts are put together of our own names

from __future__ import annotations

from collections.abc import Collection, Sequence


def insertion(table: str, *columns: str, verb: str = "INSERT") -> str:
    """A statement that puts a row with these columns, each bound by its own name."""
    return f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"


def as_bytes(table: str, columns: Sequence[str], *, but: Collection[str]) -> str:
    """``columns``, with texts as bytes: rows.py decodes them, and can then name a row whose text is not UTF-8."""
    return ", ".join(f"{table}.{name}" if name in but else f"CAST({table}.{name} AS BLOB)" for name in columns)


def added(table: str, columns: Sequence[str]) -> str:
    """The end of an upsert that adds the new row's counts to those of the row with the same key."""
    return "DO UPDATE SET " + ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in columns)


# --- namespaces: few rows, found by their UNIQUE index or their number -----------------------------------------------

PUT_NAMESPACE = """
    INSERT INTO namespaces (namespace, embedding_model)
    SELECT :namespace, number FROM embedding_models WHERE is_current = 1
    RETURNING number, last_record
"""

NAMESPACE_NUMBER = "SELECT number, last_record FROM namespaces WHERE namespace = :namespace"

# One row a project.
NAMESPACE_NUMBERS = "SELECT namespace, number, last_record FROM namespaces ORDER BY number"

NEXT_RECORD = "UPDATE namespaces SET last_record = last_record + 1 WHERE number = :number RETURNING last_record"


# --- events ----------------------------------------------------------------------------------------------------------

EVENT_FIELDS = (
    *("event_id", "parent_event_id", "session_id", "actor_id", "namespace", "schema_version", "kind", "body_json"),
    *("valid_time", "source_json", "content_hash", "project_path"),
)
"""The columns of an event, in the order in which they are read and written."""
EVENT_COLUMNS = as_bytes("e", EVENT_FIELDS, but={"schema_version"})

# By the primary key. Only a known id is ignored: OR IGNORE would ignore a missing value too.
PUT_EVENT = f"{insertion('events', *EVENT_FIELDS, 'transaction_time')} ON CONFLICT (event_id) DO NOTHING"

# A range of events_of_namespace, and each row in it.
REPORTED = """
    SELECT 1
      FROM events AS e
     WHERE e.namespace = :namespace AND e.valid_time BETWEEN :after AND :before
       AND e.event_id >= :first_id AND e.session_id = :session_id AND e.kind = :kind
       AND CASE WHEN e.kind <> 'tool_use' THEN e.body_json = :body_json
                WHEN json_valid(e.body_json)
                THEN json_extract(e.body_json, '$.data.tool_name') = json_extract(:body_json, '$.data.tool_name')
                     AND json_extract(e.body_json, '$.data.tool_input') = json_extract(:body_json, '$.data.tool_input')
           END
     LIMIT 1
"""

# By the primary key.
GET_EVENT = f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE e.event_id = :event_id"

# Backwards along events_of_namespace, without a sort; the reader stops it when it has enough.
EVENTS_OF_NAMESPACE = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.namespace = :namespace AND (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# Backwards along events_by_time, without a sort; the reader stops it when it has enough.
EVENTS_OF_ALL = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# A range of events_of_session; the table itself is not read.
COUNT_EVENTS_OF_NAMESPACE = "SELECT count(*) FROM events WHERE namespace = :namespace"

# The smallest index from end to end.
COUNT_EVENTS_OF_ALL = "SELECT count(*) FROM events"


# --- buffer ----------------------------------------------------------------------------------------------------------

PUT_BUFFERED = """
    INSERT INTO buffer (namespace_number, event_id, size_bytes) VALUES (:number, :event_id, :size_bytes)
"""

# At a position of an entry that the compaction replaces.
PUT_COMPACTED = """
    INSERT INTO buffer (position, namespace_number, size_bytes, event_count, event_id, compaction_json, stands_for_json)
    VALUES (:position, :number, :size_bytes, :event_count, :event_id, :compaction_json, :stands_for_json)
"""

# Along buffer_of_namespace; the reader stops it when it has enough. A compaction has the arrival of the first event
# that it stands for.
BUFFERED_EVENTS = f"""
    SELECT b.position, b.size_bytes, CAST(b.compaction_json AS BLOB), CAST(b.stands_for_json AS BLOB), e.rowid,
           {EVENT_COLUMNS}
      FROM buffer AS b JOIN events AS e ON e.event_id = coalesce(
               b.event_id, CASE WHEN json_valid(b.stands_for_json) THEN json_extract(b.stands_for_json, '$[0]') END)
     WHERE b.namespace_number = :number AND b.is_parked = 0
     ORDER BY b.position
"""

# A range of buffer_of_namespace.
WAITING_SOURCES = """
    SELECT b.position, coalesce(b.stands_for_json, json_array(b.event_id))
      FROM buffer AS b
     WHERE b.namespace_number = :number AND b.is_parked = 0 AND b.position <= :through
     ORDER BY b.position
"""

# A range of buffer_of_namespace; the table itself is not read. The reader stops it when it has enough.
PARKED_SIZES = """
    SELECT position, size_bytes FROM buffer WHERE namespace_number = :number AND is_parked = 1 ORDER BY position
"""

# A range of buffer_of_namespace.
SET_PARKED = """
    UPDATE buffer
       SET is_parked = :is_parked
     WHERE namespace_number = :number AND is_parked = 1 - :is_parked AND position <= :through
"""

# Twice along events_of_session, whose entries are in order of arrival (rowid) within a session's kind.
EARLIER_PROMPTS = f"""
    SELECT e.rowid, {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.namespace = :namespace AND e.session_id = :session_id AND e.kind = 'prompt' AND e.rowid < :before
       AND e.expired_at IS NULL
       AND e.rowid > (SELECT coalesce(max(s.rowid), 0)
                        FROM events AS s
                       WHERE s.namespace = :namespace AND s.session_id = :session_id AND s.kind = 'session_summary'
                         AND s.rowid < :before)
       AND NOT EXISTS (SELECT 1
                         FROM namespaces AS n JOIN forgotten AS f ON f.namespace_number = n.number
                        WHERE n.namespace = :namespace AND f.event_id = e.event_id)
     ORDER BY e.rowid DESC
     LIMIT :limit
"""

# A few steps back in the session's events, as in EARLIER_PROMPTS.
PROMPTS_BEFORE = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS s JOIN events AS e ON e.namespace = s.namespace AND e.session_id = s.session_id
     WHERE s.event_id = :event_id AND e.kind = 'prompt' AND e.rowid < s.rowid AND e.expired_at IS NULL
     ORDER BY e.rowid DESC
     LIMIT :limit
"""

# By the primary key.
COUNT_WAITING = """
    SELECT count(*) FROM json_each(:numbers) AS asked CROSS JOIN buffer AS b ON b.position = asked.value
     WHERE b.namespace_number = :number AND b.is_parked = 0
"""

# A range of buffer_of_namespace.
CLEAR_BUFFER = "DELETE FROM buffer WHERE namespace_number = :number AND is_parked = 0 AND position <= :through"

BUFFER_SIZE_COLUMNS = """
    coalesce(sum(b.event_count) FILTER (WHERE b.is_parked = 0), 0),
    coalesce(sum(b.size_bytes) FILTER (WHERE b.is_parked = 0), 0),
    coalesce(sum(b.event_count) FILTER (WHERE b.is_parked = 1), 0)
"""

# A range of buffer_of_namespace; the table itself is not read.
BUFFER_SIZE = f"""
    SELECT {BUFFER_SIZE_COLUMNS} FROM buffer AS b WHERE b.namespace_number = :number
"""

# All of buffer_of_namespace: the waiting entries, which the thresholds of learning keep few, and the parked ones.
BUFFER_SIZES = f"""
    SELECT min(n.namespace), {BUFFER_SIZE_COLUMNS}
      FROM buffer AS b JOIN namespaces AS n ON n.number = b.namespace_number
     GROUP BY b.namespace_number
"""


# --- events to be learned again --------------------------------------------------------------------------------------

# By the primary key.
ARRIVAL = "SELECT rowid FROM events WHERE event_id = :event_id AND namespace = :namespace"

# A range of events_of_namespace. The lists of events in the buffer and of forgotten ones are made once. Events that
# lost their content by age are left out.
# The rowids are sorted, since no index has them in order: a relearning run can wait for the sort, and one more index
# would slow down the writing of events.
SETTLED_ARRIVALS = """
    SELECT e.rowid
      FROM events AS e
     WHERE e.namespace = :namespace AND e.valid_time >= :since AND e.rowid > :after AND e.expired_at IS NULL
       AND e.event_id NOT IN (
               SELECT s.value
                 FROM namespaces AS n JOIN buffer AS b ON b.namespace_number = n.number,
                      json_each(CASE WHEN json_valid(b.stands_for_json) THEN b.stands_for_json
                                     ELSE json_array(b.event_id) END) AS s
                WHERE n.namespace = :namespace)
       AND e.event_id NOT IN (
               SELECT f.event_id
                 FROM namespaces AS n JOIN forgotten AS f ON f.namespace_number = n.number
                WHERE n.namespace = :namespace)
     ORDER BY e.rowid
"""

# By the rowid.
EVENT_BY_ARRIVAL = f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE e.rowid = :arrival"


# --- learning runs and model usage -----------------------------------------------------------------------------------

RUN_FIELDS = ("run_id", "namespace", "strategy", "started_at", "finished_at", "event_count", "record_count", "problem")
PUT_RUN = insertion("learning_runs", *RUN_FIELDS, verb="INSERT OR REPLACE")

# Backwards along learning_runs_by_time, without a sort.
RUNS = f"SELECT {', '.join(RUN_FIELDS)} FROM learning_runs ORDER BY started_at DESC, run_id DESC LIMIT :limit"

PUT_HOOK_SESSION = "INSERT OR REPLACE INTO hook_sessions (key, session_id) VALUES (:key, :session_id)"

GET_HOOK_SESSION = "SELECT session_id FROM hook_sessions WHERE key = :key"

# By the primary key.
PUT_PAUSE = "INSERT OR REPLACE INTO pauses (namespace, session_id, since) VALUES (:namespace, :session_id, :since)"
DELETE_PAUSE = "DELETE FROM pauses WHERE namespace = :namespace AND session_id = :session_id"

# All rows: few, since people make them.
PAUSES = "SELECT namespace, session_id, since FROM pauses ORDER BY namespace, session_id"

# Each item by the unique index of its table, except the brief, which has none; in the order of the list. An item that
# is told again gets the highest number.
PUT_TOLD = """
    INSERT OR REPLACE INTO session_told (namespace_number, session_id, item_id, prompt_number)
    SELECT :number, :session_id, told.value, :prompt_number
      FROM json_each(:item_ids) AS told
     WHERE told.value = 'brief'
        OR EXISTS (SELECT 1 FROM memory_records AS r
                    WHERE r.record_id = told.value AND r.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_facts AS f WHERE f.id = told.value AND f.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_entities AS e WHERE e.id = told.value AND e.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_procedures AS p WHERE p.id = told.value AND p.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_preferences AS q WHERE q.id = told.value AND q.namespace_number = :number)
"""

# A range of the unique index.
CLEAR_TOLD = """
    DELETE FROM session_told
     WHERE namespace_number = (SELECT number FROM namespaces WHERE namespace = :namespace)
       AND session_id = :session_id
"""

# By session_told_by_item.
FORGET_TOLD = "DELETE FROM session_told WHERE item_id = :item_id"

# Along the rowid, which is the order of telling.
TOLD = """
    SELECT n.namespace, t.session_id, t.item_id, t.prompt_number
      FROM session_told AS t CROSS JOIN namespaces AS n ON n.number = t.namespace_number
     ORDER BY t.number
"""

USAGE_COUNTS = ("call_count", "failure_count", "characters_in", "characters_out", "seconds")
USAGE_FIELDS = ("day", "namespace", *USAGE_COUNTS)

# By the primary key.
ADD_LLM_USAGE = (
    f"{insertion('llm_usage', *USAGE_FIELDS)} ON CONFLICT (day, namespace) {added('llm_usage', USAGE_COUNTS)}"
)

# A range of the primary key.
LLM_USAGE = f"SELECT {', '.join(USAGE_FIELDS)} FROM llm_usage WHERE day >= :since ORDER BY day, namespace"


# --- what could not be committed -------------------------------------------------------------------------------------

CLUSTER_FIELDS = ("cluster_id", "namespace", "records_json", "problem", "attempt_count", "retry_at")
PARK_CLUSTER = insertion("parked_clusters", *CLUSTER_FIELDS, verb="INSERT OR REPLACE")

# By the primary key.
UNPARK_CLUSTER = "DELETE FROM parked_clusters WHERE cluster_id = :cluster_id"

# Along parked_clusters_of_namespace.
PARKED_CLUSTERS_OF_NAMESPACE = f"""
    SELECT {", ".join(CLUSTER_FIELDS)} FROM parked_clusters WHERE namespace = :namespace ORDER BY cluster_id
"""

# Along the primary key.
PARKED_CLUSTERS_OF_ALL = f"SELECT {', '.join(CLUSTER_FIELDS)} FROM parked_clusters ORDER BY cluster_id"


def for_namespace(statement: str, number: int) -> str:
    """``statement`` about the index of one namespace. Safe: ``:d`` writes an integer or raises."""
    return statement.replace("{number}", f"{number:d}")


# --- the file as a whole ---------------------------------------------------------------------------------------------

ORDINARY_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"

# Reads the whole table, of the copy that is made before an upgrade, or for a check that a person asked for.
QUICK_CHECK = "SELECT quick_check FROM pragma_quick_check(:table)"

# As QUICK_CHECK, and compares each index with its table; for copies, which nobody waits for.
INTEGRITY_CHECK = "SELECT integrity_check FROM pragma_integrity_check(:table)"

FEEDBACK_COUNTS = ("helped", "wrong", "used", "ignored", "objected")

# Only for a record that exists.
ADD_FEEDBACK = f"""
    INSERT INTO memory_feedback (record_id, {", ".join(FEEDBACK_COUNTS)})
    SELECT r.record_id, {", ".join(f":{name}" for name in FEEDBACK_COUNTS)}
      FROM memory_records AS r
     WHERE r.record_id = :record_id
    ON CONFLICT (record_id) {added("memory_feedback", FEEDBACK_COUNTS)}
    RETURNING record_id
"""

FEEDBACK = f"SELECT record_id, {', '.join(FEEDBACK_COUNTS)} FROM memory_feedback ORDER BY record_id DESC LIMIT :limit"

# All of the unique index of replaced_records.record_id; then from each record to those that replaced it.
SUCCESSORS = """
    WITH RECURSIVE later (record_id) AS (
        SELECT w.record_id FROM replaced_records AS w
         WHERE substr(w.record_id, length(w.record_id) - length(:ending) + 1) = :ending
         UNION
        SELECT c.record_id
          FROM later
          CROSS JOIN replaced_records AS w ON w.record_id = later.record_id
          CROSS JOIN replacing_records AS c ON c.replacement_number = w.replacement_number)
    SELECT r.record_id
      FROM later
      CROSS JOIN memory_records AS r ON r.record_id = later.record_id
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE n.namespace = :namespace
     LIMIT :limit
"""
