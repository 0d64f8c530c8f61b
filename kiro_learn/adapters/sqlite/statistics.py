"""Queries for the status and the lists: counts, projects, learning runs, model usage."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from pathlib import PurePath

import apsw

from kiro_learn.adapters.sqlite import record_statements, statements, statistics_statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.rows import Values, to_cluster, to_moment, to_run, to_usage
from kiro_learn.model.buffer import LearningRun, ParkedCluster
from kiro_learn.model.ids import to_text
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, Namespace, display_name, project_id_in
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.model.statistics import Day, Days, LlmUsage, ProjectInfo, Stats


def get_stats(connection: apsw.Connection, namespace: Namespace | None) -> Stats:
    return _stats_of_all(connection) if namespace is None else _stats_of_one(connection, namespace)


def _stats_of_all(connection: apsw.Connection) -> Stats:
    return Stats(
        total_events=connection.execute(statements.COUNT_EVENTS_OF_ALL).get,
        total_memories=connection.execute(record_statements.COUNT_RECORDS_OF_ALL).get,
        total_projects=connection.execute(statistics_statements.COUNT_PROJECTS).get,
        total_concepts=connection.execute(statistics_statements.CONCEPTS_OF_ALL).get,
        observation_types=_counts(connection.execute(statistics_statements.TYPES_OF_ALL)),
        event_kinds=_counts(connection.execute(statistics_statements.EVENT_KINDS_OF_ALL)),
    )


def _stats_of_one(connection: apsw.Connection, namespace: Namespace) -> Stats:
    values = {"namespace": namespace}
    total_events = connection.execute(statements.COUNT_EVENTS_OF_NAMESPACE, values).get
    total_memories = connection.execute(record_statements.COUNT_RECORDS_OF_NAMESPACE, values).get
    return Stats(
        total_events=total_events,
        total_memories=total_memories,
        total_projects=connection.execute(statistics_statements.COUNT_PROJECT, values).get,
        total_concepts=connection.execute(statistics_statements.CONCEPTS_OF_NAMESPACE, values).get,
        observation_types=_counts(connection.execute(statistics_statements.TYPES_OF_NAMESPACE, values)),
        event_kinds=_counts(connection.execute(statistics_statements.EVENT_KINDS_OF_NAMESPACE, values)),
    )


def get_days(connection: apsw.Connection, namespace: Namespace | None, *, since: datetime) -> Days:
    values: Values = {"namespace": namespace, "since": to_text(since)}
    days: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for what, day, count in decodable(connection.execute(statistics_statements.DAYS, values)):
        days[day][what] = count
    sums = connection.execute(statistics_statements.FEEDBACK_SUMS, values).fetchone() or (0,) * len(Feedback)
    return Days(
        days={date.fromisoformat(day): Day(**counts) for day, counts in days.items()},
        memory_count=connection.execute(statistics_statements.COUNT_RECORDS_OF_ANY, values).get,
        session_counts=_counts(connection.execute(statistics_statements.SESSION_COUNTS, values)),  # type: ignore[arg-type]  # by text
        feedback=FeedbackCounts(**dict(zip(Feedback, sums, strict=True))),
    )


def _counts(found: apsw.Cursor) -> dict[str, int]:
    return {str(label): int(count) for label, count in decodable(found)}


def list_projects(connection: apsw.Connection, *, user_home: PurePath | None) -> list[ProjectInfo]:
    found = connection.execute(statistics_statements.PROJECTS, {"events_with_folder": EVENTS_WITH_FOLDER})
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
    return dict(decodable(connection.execute(statistics_statements.PROJECT_SIZES)))


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
