"""Queries about observations, and about learned records by their type, time and session.

See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date, datetime
from itertools import islice

import apsw
import structlog

from kiro_learn.adapters.sqlite import index_statements, record_statements, statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.rows import Values, to_moment, to_record
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.word_reads import DAMAGE, IndexDamaged, WordReads
from kiro_learn.model.ids import RecordId, from_text, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, RecordFilter
from kiro_learn.model.retrieval import Hit
from kiro_learn.model.statistics import Activity, TokenEconomics
from kiro_learn.ports.storage.records import Place, RecordQuery, SyntaxRanking, SyntaxSearch

log = structlog.get_logger()

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

# A range of records_of_namespace; the table itself is not read.
ACTIVITY_BY_DAY = """
    SELECT substr(r.created_at, 1, 10) AS day, count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.created_at >= :since
     GROUP BY day
     ORDER BY day
"""

# A range of session_told, without items of the graph. Each record by the unique index of record_id, its events by the
# primary key.
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

AFTER_ALL = "~"
"""A text that sorts after every time."""


def search_syntax(connection: apsw.Connection, search: SyntaxSearch) -> SyntaxRanking:
    """See ``ports.storage.records.ObservationReads.search_syntax``."""
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": search.namespace}).fetchone()
    if row is None or row[1] == 0:
        return SyntaxRanking(())
    values: Values = {"expression": search.expression, "limit": search.limit, **filter_values(search.filter)}
    try:
        WordReads(connection, row[0]).totals(row[1])
        statement = index_statements.SEARCH_SYNTAX_ANY if search.is_any_enough else index_statements.SEARCH_SYNTAX
        found = connection.execute(for_namespace(statement, row[0]), values)
        hits = [
            Hit(record_id, made_at, score)
            for record_id, created_at, score in decodable(found)
            if (made_at := to_moment(created_at)) is not None
        ]
    except (IndexDamaged, *DAMAGE) as error:
        log.warning("storage.word_index_damaged", namespace_number=row[0], error=type(error).__name__)
        return SyntaxRanking((), is_index_damaged=True)
    return SyntaxRanking(tuple(hits))


def get_knowledge_ids(connection: apsw.Connection, record_ids: Collection[RecordId]) -> frozenset[RecordId]:
    found = connection.execute(record_statements.KNOWLEDGE_AMONG, {"record_ids": json.dumps(list(record_ids))})
    return frozenset(record_id for (record_id,) in decodable(found))


def get_fitting_ids(
    connection: apsw.Connection, record_ids: Collection[RecordId], wanted: RecordFilter
) -> frozenset[RecordId]:
    values = filter_values(wanted) | {"record_ids": json.dumps(list(record_ids))}
    return frozenset(
        record_id for (record_id,) in decodable(connection.execute(record_statements.FITTING_AMONG, values))
    )


def list_open_branches(connection: apsw.Connection, namespace: Namespace) -> dict[str, datetime]:
    found = connection.execute(record_statements.OPEN_BRANCHES, {"namespace": namespace})
    return {branch: from_text(created_at) for branch, created_at in found}


def get_file_digests(connection: apsw.Connection, record_ids: Collection[RecordId]) -> dict[RecordId, dict[str, str]]:
    found = connection.execute(record_statements.FILE_DIGESTS, {"record_ids": json.dumps(list(record_ids))})
    return {record_id: json.loads(digests) for record_id, digests in decodable(found)}


def list_records(connection: apsw.Connection, damaged: DamagedRows, query: RecordQuery) -> list[MemoryRecord]:
    statement = record_statements.KNOWLEDGE_BEFORE if query.only_knowledge else record_statements.RECORDS_BEFORE
    if query.namespace is None:
        statement = record_statements.RECORDS_OF_ALL_BEFORE
    if query.filter.is_pinned and not query.only_knowledge:
        statement = record_statements.PINNED_BEFORE
    values = place_values(query.before) | filter_values(query.filter)
    found = connection.execute(statement, values | {"namespace": query.namespace})
    return list(islice(damaged.only_readable(found, to_record), query.limit))


def list_rules_first(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, *, limit: int, offset: int
) -> list[MemoryRecord]:
    values: Values = {"namespace": namespace, "limit": limit, "offset": offset}
    return list(damaged.only_readable(connection.execute(record_statements.RULES_FIRST, values), to_record))


def list_records_after(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, place: Place, *, limit: int
) -> list[MemoryRecord]:
    values = place_values(place) | {"namespace": namespace, "limit": limit}
    return list(damaged.only_readable(connection.execute(record_statements.RECORDS_AFTER, values), to_record))


def get_checkpoint(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, session_id: str | None
) -> MemoryRecord | None:
    found = connection.execute(record_statements.CHECKPOINT, {"namespace": namespace, "session_id": session_id})
    return next(iter(damaged.only_readable(found, to_record)), None)


def get_activity(connection: apsw.Connection, namespace: Namespace, *, since: datetime) -> Activity:
    values: Values = {"namespace": namespace, "since": to_text(since)}
    row = connection.execute(ACTIVITY, values).fetchone()
    observations, made_since, captured, knowledge, stale = row or (0,) * 5
    by_type = connection.execute(ACTIVITY_BY_TYPE, {"namespace": namespace})
    return Activity(
        observations=observations,
        since=made_since,
        captured=captured,
        knowledge=knowledge,
        stale=stale,
        types=dict(decodable(by_type)),
        days={date.fromisoformat(day): count for day, count in decodable(connection.execute(ACTIVITY_BY_DAY, values))},
    )


def get_token_economics(connection: apsw.Connection, namespace: Namespace) -> TokenEconomics:
    row = connection.execute(ECONOMICS, {"namespace": namespace}).fetchone()
    tellings, told_bytes, replaced_bytes = row or (0, 0, 0)
    return TokenEconomics(tellings=tellings, told_bytes=told_bytes, replaced_bytes=replaced_bytes)


def filter_values(wanted: RecordFilter) -> Values:
    return {
        "types": json.dumps(wanted.types) if wanted.types else None,
        "since": "" if wanted.since is None else to_text(wanted.since),
        "until": AFTER_ALL if wanted.until is None else to_text(wanted.until),
        "session": wanted.session,
        "concept": wanted.concept,
        "file": wanted.file,
        "is_stale": wanted.is_stale,
        "branch": wanted.branch,
        "is_pinned": wanted.is_pinned,
        "strategy": wanted.strategy,
    }


def place_values(place: Place | None) -> Values:
    if place is None:
        return {"created_at": AFTER_ALL, "record_id": ""}
    created_at, record_id = place
    return {"created_at": to_text(created_at), "record_id": record_id}
