"""Queries for the status and the lists: counts, projects, learning runs, parked clusters, model usage.

They run when a person looks at a page. See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from pathlib import PurePath

import apsw

from kiro_learn.adapters.sqlite import record_statements, statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.learning_rows import to_run, to_usage
from kiro_learn.adapters.sqlite.rows import Values, to_cluster, to_moment
from kiro_learn.model.buffer import LearningRun, ParkedCluster
from kiro_learn.model.ids import to_text
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, Namespace, display_name, project_id_in
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.model.statistics import Day, Days, LlmUsage, ProjectInfo, Stats

# Ranges of events_of_session and records_of_namespace, one pair per namespace; the last time and the newest known path,
# backwards along events_of_namespace.
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

# A range of events_of_session; the table itself is not read.
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

# Ranges of records_by_time, of events_by_time with each row's head, and of the primary key of llm_usage. Also all of
# session_told, which the session ledger bounds, with the prompts of its sessions by events_of_session. What was stored
# outside of any session has its event's id in the place of a session's: it is no session.
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
     WHERE e.valid_time >= :since AND e.session_id <> e.event_id AND (:namespace IS NULL OR e.namespace = :namespace)
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

# For all projects, all of events_of_session, and the index of event ids for each session; the table itself is not read.
SESSION_COUNTS = """
    SELECT s.namespace, count(*)
      FROM (SELECT DISTINCT e.namespace, e.session_id
              FROM events AS e INDEXED BY events_of_session
             WHERE :namespace IS NULL OR e.namespace = :namespace) AS s
     WHERE NOT EXISTS (SELECT 1 FROM events AS o WHERE o.event_id = s.session_id)
     GROUP BY s.namespace
"""

COUNT_RECORDS_OF_ANY = """
    SELECT count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""

# All of memory_feedback, each record by the unique index of record_id.
FEEDBACK_SUMS = """
    SELECT coalesce(sum(f.helped), 0), coalesce(sum(f.wrong), 0), coalesce(sum(f.used), 0), coalesce(sum(f.ignored), 0),
           coalesce(sum(f.objected), 0)
      FROM memory_feedback AS f
      CROSS JOIN memory_records AS r ON r.record_id = f.record_id
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""


def get_stats(connection: apsw.Connection, namespace: Namespace | None) -> Stats:
    return _stats_of_all(connection) if namespace is None else _stats_of_one(connection, namespace)


def _stats_of_all(connection: apsw.Connection) -> Stats:
    return Stats(
        total_events=connection.execute(statements.COUNT_EVENTS_OF_ALL).get,
        total_memories=connection.execute(record_statements.COUNT_RECORDS_OF_ALL).get,
        total_projects=connection.execute(COUNT_PROJECTS).get,
        total_concepts=connection.execute(CONCEPTS_OF_ALL).get,
        observation_types=_counts(connection.execute(TYPES_OF_ALL)),
        event_kinds=_counts(connection.execute(EVENT_KINDS_OF_ALL)),
    )


def _stats_of_one(connection: apsw.Connection, namespace: Namespace) -> Stats:
    values = {"namespace": namespace}
    return Stats(
        total_events=connection.execute(statements.COUNT_EVENTS_OF_NAMESPACE, values).get,
        total_memories=connection.execute(record_statements.COUNT_RECORDS_OF_NAMESPACE, values).get,
        total_projects=connection.execute(COUNT_PROJECT, values).get,
        total_concepts=connection.execute(CONCEPTS_OF_NAMESPACE, values).get,
        observation_types=_counts(connection.execute(TYPES_OF_NAMESPACE, values)),
        event_kinds=_counts(connection.execute(EVENT_KINDS_OF_NAMESPACE, values)),
    )


def get_days(connection: apsw.Connection, namespace: Namespace | None, *, since: datetime) -> Days:
    values: Values = {"namespace": namespace, "since": to_text(since)}
    days: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for what, day, count in decodable(connection.execute(DAYS, values)):
        days[day][what] = count
    sums = connection.execute(FEEDBACK_SUMS, values).fetchone() or (0,) * len(Feedback)
    return Days(
        days={date.fromisoformat(day): Day(**counts) for day, counts in days.items()},
        memory_count=connection.execute(COUNT_RECORDS_OF_ANY, values).get,
        session_counts=_counts(connection.execute(SESSION_COUNTS, values)),  # type: ignore[arg-type]  # by text
        feedback=FeedbackCounts(**dict(zip(Feedback, sums, strict=True))),
    )


def _counts(found: apsw.Cursor) -> dict[str, int]:
    return {str(label): int(count) for label, count in decodable(found)}


def list_projects(connection: apsw.Connection, *, user_home: PurePath | None) -> list[ProjectInfo]:
    found = connection.execute(PROJECTS, {"events_with_folder": EVENTS_WITH_FOLDER})
    return [
        ProjectInfo(
            namespace=namespace,
            project_id=project_id_in(namespace),
            display_name=name or display_name(project_id_in(namespace), project_path, user_home=user_home),
            event_count=event_count,
            memory_count=memory_count,
            last_event_at=to_moment(last_event_at),
            folder=project_path,
            name=name,
            waiting_count=waiting_count,
        )
        for namespace, event_count, memory_count, last_event_at, waiting_count, project_path, name in decodable(found)
    ]


def get_project_sizes(connection: apsw.Connection) -> dict[Namespace, int]:
    return dict(decodable(connection.execute(PROJECT_SIZES)))


def list_runs(connection: apsw.Connection, damaged: DamagedRows, limit: int) -> list[LearningRun]:
    found = connection.execute(statements.RUNS, {"limit": limit})
    return list(damaged.only_readable(decodable(found), to_run))


def list_parked_clusters(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace | None
) -> list[ParkedCluster]:
    if namespace is None:
        found = connection.execute(statements.PARKED_CLUSTERS_OF_ALL)
    else:
        found = connection.execute(statements.PARKED_CLUSTERS_OF_NAMESPACE, {"namespace": namespace})
    return list(damaged.only_readable(decodable(found), to_cluster))


def list_llm_usage(connection: apsw.Connection, damaged: DamagedRows, *, since: date) -> list[LlmUsage]:
    found = connection.execute(statements.LLM_USAGE, {"since": since.isoformat()})
    return list(damaged.only_readable(decodable(found), to_usage))
