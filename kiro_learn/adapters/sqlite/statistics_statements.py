"""SQL of counts and lists that a person looks at, by name, with the index that serves it.

See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.statements import EVENT_COLUMNS

# --- statistics: asked for by a person who looks at a page -----------------------------------------------------------

# Ranges of events_of_session and records_of_namespace, one pair per namespace; the last moment, and the newest path
# that is known, backwards along events_of_namespace.
_IS_PROJECT = """
           (EXISTS (SELECT 1 FROM events AS e WHERE e.namespace = n.namespace)
            OR EXISTS (SELECT 1 FROM memory_records AS r WHERE r.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_facts AS f WHERE f.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_preferences AS p WHERE p.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_procedures AS w WHERE w.namespace_number = n.number))
"""

PROJECTS = f"""
    SELECT n.namespace,
           (SELECT count(*) FROM events AS e WHERE e.namespace = n.namespace) AS event_count,
           (SELECT count(*) FROM memory_records AS r WHERE r.namespace_number = n.number),
           (SELECT max(e.valid_time) FROM events AS e WHERE e.namespace = n.namespace),
           (SELECT coalesce(sum(b.event_count), 0) FROM buffer AS b WHERE b.namespace_number = n.number),
           coalesce(n.folder, (SELECT newest.project_path
              FROM (SELECT e.project_path FROM events AS e
                     WHERE e.namespace = n.namespace
                     ORDER BY e.valid_time DESC, e.event_id DESC LIMIT :events_with_folder) AS newest
             WHERE newest.project_path IS NOT NULL LIMIT 1)),
           n.name
      FROM namespaces AS n
     WHERE {_IS_PROJECT}
     ORDER BY event_count DESC, n.namespace
"""  # noqa: S608  # a constant of this file

_RECORD_BYTES = """octet_length(r.title) + octet_length(r.summary) + octet_length(r.facts_json)
                           + coalesce(octet_length(r.captured_text), 0) + coalesce(octet_length(r.embedding), 0)"""

PROJECT_SIZES = f"""
    SELECT *
      FROM (SELECT n.namespace,
                   (SELECT coalesce(sum(octet_length(e.body_json)), 0) FROM events AS e WHERE e.namespace = n.namespace)
                   + (SELECT coalesce(sum({_RECORD_BYTES} + coalesce(octet_length(r.passage_codes), 0)), 0)
                        FROM memory_records AS r WHERE r.namespace_number = n.number)
                   + (SELECT coalesce(sum({_RECORD_BYTES}), 0)
                        FROM replaced_records AS r WHERE r.namespace_number = n.number) AS size_bytes
              FROM namespaces AS n) AS sizes
     WHERE size_bytes > 0
"""  # noqa: S608  # a constant of this file

# A range of events_of_session, of which the table itself is not read.
EVENT_KINDS_OF_NAMESPACE = "SELECT kind, count(*) FROM events WHERE namespace = :namespace GROUP BY kind"

EVENT_KINDS_OF_ALL = "SELECT kind, count(*) FROM events GROUP BY kind"

# A range of records_of_namespace and each row's head.
TYPES_OF_NAMESPACE = """
    SELECT r.observation_type, count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
     GROUP BY r.observation_type
"""

TYPES_OF_ALL = "SELECT observation_type, count(*) FROM memory_records GROUP BY observation_type"

CONCEPTS_OF_NAMESPACE = """
    SELECT count(DISTINCT c.value)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number,
           json_each(CASE WHEN json_valid(r.concepts_json) THEN r.concepts_json ELSE '[]' END) AS c
     WHERE n.namespace = :namespace
"""

CONCEPTS_OF_ALL = """
    SELECT count(DISTINCT c.value)
      FROM memory_records AS r,
           json_each(CASE WHEN json_valid(r.concepts_json) THEN r.concepts_json ELSE '[]' END) AS c
"""

COUNT_PROJECTS = f"SELECT count(*) FROM namespaces AS n WHERE {_IS_PROJECT}"  # noqa: S608  # a constant of this file
COUNT_PROJECT = f"{COUNT_PROJECTS} AND n.namespace = :namespace"

# Backwards along events_of_namespace, and each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_NAMESPACE = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE e.namespace = :namespace AND (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# Backwards along events_by_time, and each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_ALL = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# A range of events_of_session, and each row. The last place is a moment, which is written in one length, and an id.
SESSION = """
    SELECT min(e.valid_time), max(e.valid_time || ' ' || e.event_id), count(*),
           count(*) FILTER (WHERE e.kind = 'prompt'), min(e.event_id)
      FROM events AS e
     WHERE e.namespace = :namespace AND e.session_id = :session_id
"""

# Ranges of events_of_session, of which the table itself is not read; then one row.
OPENING_EVENT = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.rowid = coalesce(
               (SELECT min(p.rowid) FROM events AS p
                 WHERE p.namespace = :namespace AND p.session_id = :session_id AND p.kind = 'prompt'),
               (SELECT min(p.rowid) FROM events AS p WHERE p.namespace = :namespace AND p.session_id = :session_id))
"""  # noqa: S608  # a constant of ours

# Ranges of events_of_session; then all records of their projects along records_of_namespace, and each row.
MEMORIES_OF_SESSIONS = """
    WITH said AS MATERIALIZED (
        SELECT e.event_id, e.namespace, e.session_id
          FROM json_each(:sessions) AS asked
          CROSS JOIN events AS e
             ON e.namespace = json_extract(asked.value, '$[0]') AND e.session_id = json_extract(asked.value, '$[1]'))
    SELECT said.namespace, said.session_id, count(DISTINCT r.number)
      FROM memory_records AS r INDEXED BY records_of_namespace,
           json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
      CROSS JOIN said ON said.event_id = cited.value
     WHERE r.namespace_number IN (
               SELECT n.number FROM json_each(:sessions) AS asked
                CROSS JOIN namespaces AS n ON n.namespace = json_extract(asked.value, '$[0]'))
     GROUP BY said.namespace, said.session_id
"""

# All records of a project along records_of_namespace, and each row.
MEMORIES_OF_EVENTS = """
    SELECT cited.value, r.record_id, r.title
      FROM namespaces AS n CROSS JOIN memory_records AS r INDEXED BY records_of_namespace
           ON r.namespace_number = n.number,
           json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
     WHERE n.namespace = :namespace AND cited.value IN (SELECT value FROM json_each(:event_ids))
"""

# A range of events_of_session, sorted by what is short, before the rows are read whole.
EVENTS_OF_SESSION = f"""
    SELECT {EVENT_COLUMNS}
      FROM (SELECT s.rowid AS arrival
              FROM events AS s INDEXED BY events_of_session
             WHERE s.namespace = :namespace AND s.session_id = :session_id
               AND (s.valid_time, s.event_id) > (:valid_time, :event_id)
             ORDER BY s.valid_time, s.event_id
             LIMIT :limit) AS chosen
      CROSS JOIN events AS e ON e.rowid = chosen.arrival
     ORDER BY e.valid_time, e.event_id
"""  # noqa: S608  # a constant of ours

# For each of a list, by the primary key.
GET_EVENTS = f"""
    SELECT {EVENT_COLUMNS}
      FROM json_each(:event_ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
     ORDER BY e.valid_time, e.event_id
"""  # noqa: S608  # a constant of ours

# By session_told_by_item; then the last prompt of each session along events_of_session.
TOLD_SESSIONS = """
    SELECT n.namespace, t.session_id, t.prompt_number,
           (SELECT e.valid_time FROM events AS e
             WHERE e.namespace = n.namespace AND e.session_id = t.session_id AND e.kind = 'prompt'
             ORDER BY e.rowid DESC LIMIT 1)
      FROM session_told AS t CROSS JOIN namespaces AS n ON n.number = t.namespace_number
     WHERE t.item_id = :record_id
     ORDER BY t.number DESC
"""

# A range of records_of_namespace and each row's head.
ACTIVITY = """
    SELECT count(*), count(*) FILTER (WHERE r.created_at >= :since), count(r.capture_type), count(r.knowledge_type),
           count(r.stale_at)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
"""

# A range of records_of_namespace and each row's head.
ACTIVITY_BY_TYPE = """
    SELECT coalesce(r.capture_type, r.knowledge_type, r.observation_type) AS type, count(*) AS record_count
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
     GROUP BY type
     ORDER BY record_count DESC, type
"""

# A range of records_of_namespace, of which the table itself is not read.
ACTIVITY_BY_DAY = """
    SELECT substr(r.created_at, 1, 10) AS day, count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.created_at >= :since
     GROUP BY day
     ORDER BY day
"""

# A range of what sessions were told, of which items of the graph are left out.
# Each record by the unique index of record_id, its events by the primary key.
ECONOMICS = """
    WITH told AS (
        SELECT t.item_id, count(*) AS times
          FROM session_told AS t
         WHERE t.namespace_number = (SELECT number FROM namespaces WHERE namespace = :namespace)
         GROUP BY t.item_id)
    SELECT coalesce(sum(told.times), 0),
           coalesce(sum(told.times
                        * (octet_length(r.title) + octet_length(r.summary) + octet_length(r.facts_json))), 0),
           coalesce(sum(told.times * (
               coalesce(octet_length(r.captured_text), 0)
               + (SELECT coalesce(sum(coalesce(e.expired_bytes, octet_length(e.body_json))), 0)
                    FROM json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json
                                        ELSE '[]' END) AS cited
                    CROSS JOIN events AS e ON e.event_id = cited.value))), 0)
      FROM told CROSS JOIN memory_records AS r ON r.record_id = told.item_id
"""

# Ranges of records_by_time, of events_by_time with each row's head, of the primary key of llm_usage; and all that
# sessions were told, which the session ledger bounds, with the prompts of these sessions by events_of_session.
DAYS = """
    WITH chosen AS (SELECT n.number, n.namespace FROM namespaces AS n
                     WHERE :namespace IS NULL OR n.namespace = :namespace),
    told AS (
        SELECT c.namespace, t.session_id, max(t.prompt_number, 1) AS place, count(*) AS times
          FROM session_told AS t JOIN chosen AS c ON c.number = t.namespace_number
         WHERE t.item_id LIKE 'mr_%'
         GROUP BY c.namespace, t.session_id, place),
    prompts AS (
        SELECT e.namespace, e.session_id, e.valid_time,
               row_number() OVER (PARTITION BY e.namespace, e.session_id ORDER BY e.event_id) AS place
          FROM (SELECT DISTINCT namespace, session_id FROM told) AS s
         CROSS JOIN events AS e ON e.namespace = s.namespace AND e.session_id = s.session_id AND e.kind = 'prompt')
    SELECT 'learned', substr(r.created_at, 1, 10) AS day, count(*)
      FROM memory_records AS r CROSS JOIN chosen AS c ON c.number = r.number >> 32
     WHERE r.created_at >= :since
     GROUP BY day
    UNION ALL
    SELECT 'told', substr(p.valid_time, 1, 10) AS day, sum(t.times)
      FROM told AS t
      JOIN prompts AS p ON p.namespace = t.namespace AND p.session_id = t.session_id AND p.place = t.place
     WHERE p.valid_time >= :since
     GROUP BY day
    UNION ALL
    SELECT 'prompts', substr(e.valid_time, 1, 10) AS day, count(*)
      FROM events AS e
     WHERE e.valid_time >= :since AND e.kind = 'prompt' AND (:namespace IS NULL OR e.namespace = :namespace)
     GROUP BY day
    UNION ALL
    SELECT 'sessions', substr(e.valid_time, 1, 10) AS day, count(DISTINCT e.session_id)
      FROM events AS e
     WHERE e.valid_time >= :since AND (:namespace IS NULL OR e.namespace = :namespace)
     GROUP BY day
    UNION ALL
    SELECT 'calls', u.day, sum(u.call_count)
      FROM llm_usage AS u
     WHERE u.day >= substr(:since, 1, 10) AND (:namespace IS NULL OR u.namespace = :namespace)
     GROUP BY u.day
    UNION ALL
    SELECT 'failures', u.day, sum(u.failure_count)
      FROM llm_usage AS u
     WHERE u.day >= substr(:since, 1, 10) AND (:namespace IS NULL OR u.namespace = :namespace)
     GROUP BY u.day
"""

# Of all projects, all of events_of_session, of which the table itself is not read.
SESSION_COUNTS = """
    SELECT e.namespace, count(DISTINCT e.session_id)
      FROM events AS e INDEXED BY events_of_session
     WHERE :namespace IS NULL OR e.namespace = :namespace
     GROUP BY e.namespace
"""

COUNT_RECORDS_OF_ANY = """
    SELECT count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""

# What was told and judged, each record by the unique index of record_id.
FEEDBACK_SUMS = """
    SELECT coalesce(sum(f.helped), 0), coalesce(sum(f.wrong), 0), coalesce(sum(f.used), 0), coalesce(sum(f.ignored), 0),
           coalesce(sum(f.objected), 0)
      FROM memory_feedback AS f
      CROSS JOIN memory_records AS r ON r.record_id = f.record_id
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""
