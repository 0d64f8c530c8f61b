"""Lets go of old content: the SQL, the queries about what is old, and the writes that remove it.

See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime
from itertools import islice

import apsw

from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, decodable
from kiro_learn.adapters.sqlite.record_statements import DELETE_EMPTY_REPLACEMENT, FORGET_REPLACED, RECORD_COLUMNS
from kiro_learn.adapters.sqlite.records import number_of
from kiro_learn.adapters.sqlite.rows import Values, body_text, to_record
from kiro_learn.adapters.sqlite.statements import FORGET_TOLD
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId, RecordId, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.model.retention import EXPIRED, IMPORTANT, NOTABLE, Amount
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.ports.storage.retention import EventAge, RecordAge

# First the sessions from which something was learned: those of events that records cite, each by the primary key of
# events. Then a range of events_of_session for each session: without CROSS JOIN, SQLite reads all old events of the
# project for each. The list of waiting events is made once.
_CITED = """
    WITH cited (event_id, importance) AS (
        SELECT s.value, coalesce(r.importance, 0)
          FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number,
               json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json ELSE '[]' END) AS s
         WHERE n.namespace = :namespace
         UNION ALL
        SELECT f.event_id, 0
          FROM namespaces AS n JOIN forgotten AS f ON f.namespace_number = n.number
         WHERE n.namespace = :namespace),
    learned (session_id, last_time, importance) AS (
        SELECT c.session_id, max(c.valid_time), max(cited.importance)
          FROM cited CROSS JOIN events AS c ON c.event_id = cited.event_id
         WHERE c.namespace = :namespace
         GROUP BY c.session_id)
"""
# The events in a project's buffer and in its parked clusters, of which there are seldom any.
_AWAITED = """
        SELECT s.value
          FROM namespaces AS n JOIN buffer AS b ON b.namespace_number = n.number,
               json_each(CASE WHEN json_valid(b.stands_for_json) THEN b.stands_for_json
                              ELSE json_array(b.event_id) END) AS s
         WHERE n.namespace = :namespace
         UNION ALL
        SELECT s.value
          FROM parked_clusters AS p,
               json_each(CASE WHEN json_valid(p.records_json) THEN p.records_json ELSE '[]' END) AS r,
               json_each(CASE r.type WHEN 'object' THEN r.value ELSE '{}' END, '$.source_event_ids') AS s
         WHERE p.namespace = :namespace
"""
_EXPIRABLE = f"""
      FROM learned AS l
           CROSS JOIN events AS e INDEXED BY events_of_session
              ON e.namespace = :namespace AND e.session_id = l.session_id
     WHERE e.valid_time <= l.last_time AND e.expired_at IS NULL
       AND e.valid_time < CASE WHEN l.importance >= :important THEN :important_before ELSE :before END
       AND e.event_id NOT IN ({_AWAITED})
"""

COUNT_EXPIRABLE = f"{_CITED} SELECT count(*), coalesce(sum(octet_length(e.body_json)), 0) {_EXPIRABLE}"

LIST_EXPIRABLE = f"{_CITED} SELECT e.event_id {_EXPIRABLE} ORDER BY e.valid_time, e.event_id LIMIT :limit"

# For each of a list, by the primary key.
HAS_EXPIRED = """
    SELECT EXISTS (
        SELECT 1
          FROM json_each(:event_ids) AS wanted CROSS JOIN events AS e ON e.event_id = wanted.value
         WHERE e.expired_at IS NOT NULL)
"""

# For each of a list, by the primary key. The list of waiting events is made once. Returns the bytes of each content.
EXPIRE_EVENTS = f"""
    UPDATE events
       SET expired_at = :now, expired_bytes = octet_length(body_json), body_json = :body, content_hash = NULL
     WHERE event_id IN (SELECT value FROM json_each(:event_ids)) AND namespace = :namespace AND expired_at IS NULL
       AND event_id NOT IN ({_AWAITED})
    RETURNING expired_bytes
"""  # noqa: S608  # our own constant

# A range of records_of_namespace, oldest first; the reader stops it when it has enough. Records that a person wrote or
# said, constraints, decisions and pinned records are left out.
LIST_DISTILLABLE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n CROSS JOIN memory_records AS r
     WHERE n.namespace = :namespace AND r.namespace_number = n.number
       AND (r.created_at, r.record_id) > (:created_at, :record_id)
       AND r.created_at < :before AND (coalesce(r.importance, 0) < :notable OR r.created_at < :notable_before)
       AND coalesce(r.importance, 0) < :important
       AND r.distilled_at IS NULL AND r.capture_type IS NULL AND r.strategy NOT IN (:edited, :shared)
       AND r.origin IS NOT 'user' AND (r.knowledge_type IS NULL OR r.knowledge_type = 'heuristic')
       AND r.observation_type <> 'decision' AND r.pinned_at IS NULL
     ORDER BY r.created_at, r.record_id
"""  # noqa: S608  # our own constant

# By the unique index of record_id.
MARK_DISTILLED = "UPDATE memory_records SET distilled_at = :now WHERE record_id = :record_id"

# All replacements of a project, of which there are seldom many; the rest by the rowid.
REPLACED_BEFORE = """
    SELECT r.record_id, p.number,
           octet_length(r.title) + octet_length(r.summary) + octet_length(r.facts_json)
               + coalesce(octet_length(r.captured_text), 0)
      FROM (SELECT number
              FROM replacements
             WHERE namespace_number = (SELECT number FROM namespaces WHERE namespace = :namespace)
               AND replaced_at < :before
             ORDER BY number
             LIMIT :limit) AS p
           CROSS JOIN replaced_records AS r ON r.replacement_number = p.number
"""


ALL = -1
"""A LIMIT that is none, in SQLite."""


def count_expirable(connection: apsw.Connection, age: EventAge) -> Amount:
    return Amount(*connection.execute(COUNT_EXPIRABLE, _of_age(age)).get)


def list_expirable(connection: apsw.Connection, age: EventAge, *, limit: int) -> list[EventId]:
    found = connection.execute(LIST_EXPIRABLE, _of_age(age) | {"limit": limit})
    return [EventId(event_id) for (event_id,) in decodable(found)]


def has_expired(connection: apsw.Connection, event_ids: Collection[EventId]) -> bool:
    return bool(connection.execute(HAS_EXPIRED, {"event_ids": json.dumps(list(event_ids))}).get)


def _of_age(age: EventAge) -> Values:
    return {
        "namespace": age.namespace,
        "before": to_text(age.before),
        "important_before": to_text(age.important_before),
        "important": IMPORTANT,
    }


def list_distillable(
    connection: apsw.Connection,
    damaged: DamagedRows,
    age: RecordAge,
    *,
    after: tuple[datetime, RecordId] | None,
    limit: int,
) -> list[MemoryRecord]:
    values: Values = {
        "namespace": age.namespace,
        "before": to_text(age.before),
        "notable_before": to_text(age.notable_before),
        "created_at": "" if after is None else to_text(after[0]),
        "record_id": "" if after is None else after[1],
        "important": IMPORTANT,
        "notable": NOTABLE,
        "edited": EDITED,
        "shared": SHARED_STRATEGY,
    }
    found = connection.execute(LIST_DISTILLABLE, values)
    return list(islice(damaged.only_readable(found, to_record), limit))


def count_replaced(connection: apsw.Connection, namespace: Namespace, *, before: datetime) -> Amount:
    values: Values = {"namespace": namespace, "before": to_text(before), "limit": ALL}
    found = list(decodable(connection.execute(REPLACED_BEFORE, values)))
    return Amount(len(found), sum(size for _, _, size in found))


_BODY = body_text(TextBody(EXPIRED))


class RetentionWrites:
    """The part of a transaction that ``ports.storage.retention`` describes."""

    connection: apsw.Connection
    _utc_now: Callable[[], datetime]
    forgotten_in: set[int]

    def expire_events(self, namespace: Namespace, event_ids: Collection[EventId]) -> Amount:
        values = {
            "namespace": namespace,
            "event_ids": json.dumps(list(event_ids)),
            "now": to_text(self._utc_now()),
            "body": _BODY,
        }
        done: list[Row] = self.connection.execute(EXPIRE_EVENTS, values).fetchall()
        if done:
            self._erase_in(namespace)
        return Amount(len(done), sum(size for (size,) in done))

    def mark_distilled(self, record_ids: Collection[RecordId]) -> None:
        now = to_text(self._utc_now())
        values = ({"record_id": record_id, "now": now} for record_id in record_ids)
        self.connection.executemany(MARK_DISTILLED, values)

    def delete_replaced(self, namespace: Namespace, *, before: datetime, limit: int) -> Amount:
        values: Values = {"namespace": namespace, "before": to_text(before), "limit": limit}
        gone = Amount()
        found = list(decodable(self.connection.execute(REPLACED_BEFORE, values)))
        for record_id, replacement, size in found:
            self.connection.execute(FORGET_REPLACED, {"record_id": record_id}).fetchall()
            self.connection.execute(FORGET_TOLD, {"item_id": record_id})
            self.connection.execute(DELETE_EMPTY_REPLACEMENT, {"replacement": replacement})
            gone += Amount(1, size)
        if gone.count:
            self._erase_in(namespace)
        return gone

    def _erase_in(self, namespace: Namespace) -> None:
        self.forgotten_in.add(number_of(self.connection, namespace)[0])
