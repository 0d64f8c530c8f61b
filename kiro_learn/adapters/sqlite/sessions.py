"""Sessions: lists by their last event, their events, the memories that came from these, and what they were told.

Also queries about single events, and pauses of one session or of a whole project.

See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import apsw

from kiro_learn.adapters.sqlite import record_statements, rows, statements
from kiro_learn.adapters.sqlite.damage import DamagedRow, DamagedRows, Row, decodable, parted
from kiro_learn.adapters.sqlite.records import number_of
from kiro_learn.adapters.sqlite.rows import Values, to_event, to_moment
from kiro_learn.adapters.sqlite.statements import EVENT_COLUMNS
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId, from_text, to_text
from kiro_learn.model.namespace import Namespace, Pause
from kiro_learn.model.retrieval import ToldId, ToldItem
from kiro_learn.model.statistics import NamedRecord, Session, SessionHead, ToldSession
from kiro_learn.ports.storage.answers import EventPage
from kiro_learn.ports.storage.events import EventPlace, SessionEvents
from kiro_learn.wire.cursors import cursor_after, place_of

# Backwards along events_of_namespace, reading each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_NAMESPACE = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE e.namespace = :namespace AND (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# Backwards along events_by_time, reading each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_ALL = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# A range of events_of_session, and each row. The last place is a time, whose texts all have one length, and an id.
SESSION = """
    SELECT min(e.valid_time), max(e.valid_time || ' ' || e.event_id), count(*),
           count(*) FILTER (WHERE e.kind = 'prompt'), min(e.event_id)
      FROM events AS e
     WHERE e.namespace = :namespace AND e.session_id = :session_id
"""

# Ranges of events_of_session, without the table itself; then one row.
OPENING_EVENT = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.rowid = coalesce(
               (SELECT min(p.rowid) FROM events AS p
                 WHERE p.namespace = :namespace AND p.session_id = :session_id AND p.kind = 'prompt'),
               (SELECT min(p.rowid) FROM events AS p WHERE p.namespace = :namespace AND p.session_id = :session_id))
"""  # noqa: S608  # our own constant

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

# A range of events_of_session. Short columns are sorted before whole rows are read.
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
"""  # noqa: S608  # our own constant

# For each of a list, by the primary key.
GET_EVENTS = f"""
    SELECT {EVENT_COLUMNS}
      FROM json_each(:event_ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
     ORDER BY e.valid_time, e.event_id
"""  # noqa: S608  # our own constant

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

AFTER_ALL = {"valid_time": "~", "event_id": ""}
BEFORE_ALL = {"valid_time": "", "event_id": ""}


def list_sessions(
    connection: apsw.Connection, namespace: Namespace | None, *, limit: int, before: EventPlace | None = None
) -> list[Session]:
    return list(islice(_sessions(connection, namespace, before), limit))


def _sessions(connection: apsw.Connection, namespace: Namespace | None, before: EventPlace | None) -> Iterator[Session]:
    statement = SESSIONS_OF_ALL if namespace is None else SESSIONS_OF_NAMESPACE
    values = {"namespace": namespace, **(AFTER_ALL if before is None else _place(before))}
    seen: set[tuple[Namespace, str]] = set()
    for of, session_id, valid_time, event_id in decodable(connection.execute(statement, values)):
        if (of, session_id) in seen or session_id == event_id:
            continue
        seen.add((of, session_id))
        key: Values = {"namespace": of, "session_id": session_id}
        row = connection.execute(SESSION, key).fetchone()
        # A session with a later event was on an earlier page.
        if row is None or row[1] != f"{valid_time} {event_id}" or row[4] == session_id:
            continue
        session = _session(of, session_id, event_id, (row[0], valid_time, row[2], row[3]))
        if session is not None:
            yield session


def _session(namespace: Namespace, session_id: str, last_event_id: EventId, row: Row) -> Session | None:
    """The session; None if one of its times cannot be read."""
    started_at, last_event_at, event_count, prompt_count = row
    first, last = to_moment(started_at), to_moment(last_event_at)
    if first is None or last is None:
        return None
    return Session(
        namespace=namespace,
        session_id=session_id,
        started_at=first,
        last_event_at=last,
        last_event_id=last_event_id,
        event_count=event_count,
        prompt_count=prompt_count,
    )


def get_session_heads(
    connection: apsw.Connection, damaged: DamagedRows, sessions: Sequence[Session]
) -> list[SessionHead]:
    keys = [(session.namespace, session.session_id) for session in sessions]
    counted = connection.execute(MEMORIES_OF_SESSIONS, {"sessions": json.dumps(keys)})
    counts = {(namespace, session_id): count for namespace, session_id, count in decodable(counted)}
    openings = [
        connection.execute(OPENING_EVENT, {"namespace": namespace, "session_id": session_id})
        for namespace, session_id in keys
    ]
    return [
        SessionHead(
            session=session,
            opening=next(damaged.only_readable(opening, to_event), None),
            memory_count=counts.get(key, 0),
        )
        for session, key, opening in zip(sessions, keys, openings, strict=True)
    ]


def list_session_events(
    connection: apsw.Connection,
    damaged: DamagedRows,
    namespace: Namespace,
    session_id: str,
    *,
    limit: int,
    after: EventPlace | None,
) -> SessionEvents:
    values: Values = {"namespace": namespace, "session_id": session_id, "limit": limit}
    row = connection.execute(SESSION, values).fetchone()
    session = None
    if row is not None and row[1] is not None:
        last_event_at, _, last_event_id = row[1].rpartition(" ")
        session = _session(namespace, session_id, last_event_id, (row[0], last_event_at, row[2], row[3]))
    place = BEFORE_ALL if after is None else _place(after)
    found = connection.execute(EVENTS_OF_SESSION, values | place)
    events, broken = parted(damaged.readable(found, to_event))
    return SessionEvents(session, events, is_end=len(events) + len(broken) < limit)


def get_events(connection: apsw.Connection, damaged: DamagedRows, event_ids: Collection[EventId]) -> list[Event]:
    found = connection.execute(GET_EVENTS, {"event_ids": json.dumps(list(event_ids))})
    return list(damaged.only_readable(found, to_event))


def get_memories_of_events(
    connection: apsw.Connection, namespace: Namespace, event_ids: Collection[EventId]
) -> dict[EventId, list[NamedRecord]]:
    values = {"namespace": namespace, "event_ids": json.dumps(list(event_ids))}
    memories: dict[EventId, list[NamedRecord]] = {}
    for event_id, record_id, title in decodable(connection.execute(MEMORIES_OF_EVENTS, values)):
        memories.setdefault(event_id, []).append(NamedRecord(record_id, title))
    return memories


def list_told_sessions(connection: apsw.Connection, record_id: RecordId) -> list[ToldSession]:
    found = connection.execute(TOLD_SESSIONS, {"record_id": record_id})
    return [
        ToldSession(namespace=of, session_id=session, prompt_number=number, last_prompt_at=to_moment(asked_at))
        for of, session, number, asked_at in decodable(found)
    ]


def _place(place: EventPlace) -> Values:
    valid_time, event_id = place
    return {"valid_time": to_text(valid_time), "event_id": event_id}


# What sessions were told. Only ids and prompt numbers are stored, never a text.


def put_told(
    connection: apsw.Connection,
    namespace: Namespace,
    session_id: str,
    item_ids: Sequence[ToldId],
    *,
    prompt_number: int,
) -> None:
    values: rows.Values = {
        "number": number_of(connection, namespace)[0],
        "session_id": session_id,
        "item_ids": json.dumps(list(item_ids)),
        "prompt_number": prompt_number,
    }
    connection.execute(statements.PUT_TOLD, values)


def clear_told(connection: apsw.Connection, namespace: Namespace, session_id: str) -> None:
    connection.execute(statements.CLEAR_TOLD, {"namespace": namespace, "session_id": session_id})


def forget_told(connection: apsw.Connection, item_ids: Collection[ToldId]) -> None:
    connection.executemany(statements.FORGET_TOLD, [{"item_id": item_id} for item_id in item_ids])


def list_told(connection: apsw.Connection) -> list[ToldItem]:
    return [rows.to_told(row) for row in connection.execute(statements.TOLD)]


# Single events, and the users who wrote them.


def get_event_by_id(connection: apsw.Connection, event_id: EventId) -> Event | None:
    row = connection.execute(statements.GET_EVENT, {"event_id": event_id}).fetchone()
    return None if row is None else to_event(row)


def list_teachers(connection: apsw.Connection, record_ids: Sequence[RecordId]) -> dict[RecordId, frozenset[str]]:
    teachers: defaultdict[RecordId, set[str]] = defaultdict(set)
    values: Values = {"record_ids": json.dumps(list(record_ids))}
    for record_id, actor_id in decodable(connection.execute(record_statements.TEACHERS, values)):
        teachers[record_id].add(actor_id)
    return {record_id: frozenset(actors) for record_id, actors in teachers.items()}


def list_events(
    connection: apsw.Connection, damaged: DamagedRows, *, namespace: Namespace | None, limit: int, cursor: str | None
) -> EventPage:
    page = AFTER_ALL if cursor is None else _place(place_of(cursor))
    if namespace is None:
        found = connection.execute(statements.EVENTS_OF_ALL, page)
        total = connection.execute(statements.COUNT_EVENTS_OF_ALL).get
    else:
        found = connection.execute(statements.EVENTS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(statements.COUNT_EVENTS_OF_NAMESPACE, {"namespace": namespace}).get
    events: list[Event] = []
    broken: list[str] = []
    since_last: list[str] = []
    for event in damaged.readable(found, to_event):
        if isinstance(event, DamagedRow):
            since_last.append(event.row_id)
        elif len(events) == limit:
            return EventPage(tuple(events), total, cursor_after(events[-1]), tuple(broken))
        else:
            events.append(event)
            broken += since_last
            since_last.clear()
    return EventPage(tuple(events), total, None, (*broken, *since_last))


# Pauses, and the sessions of hooks.

WHOLE = ""
"""Stored in the place of a session's id for a pause of the whole project."""


def put_pause(connection: apsw.Connection, pause: Pause) -> None:
    values = pause_key(pause.namespace, pause.session_id) | {"since": to_text(pause.since)}
    connection.execute(statements.PUT_PAUSE, values)


def delete_pause(connection: apsw.Connection, namespace: Namespace, session_id: str | None) -> None:
    connection.execute(statements.DELETE_PAUSE, pause_key(namespace, session_id))


def list_pauses(connection: apsw.Connection) -> list[Pause]:
    return [
        Pause(Namespace(str(namespace)), str(session_id) or None, from_text(str(since)))
        for namespace, session_id, since in decodable(connection.execute(statements.PAUSES))
    ]


def pause_key(namespace: Namespace, session_id: str | None) -> Values:
    """The primary key of a pause."""
    return {"namespace": namespace, "session_id": session_id or WHOLE}


def get_hook_session(connection: apsw.Connection, key: str) -> str | None:
    session_id: str | None = connection.execute(statements.GET_HOOK_SESSION, {"key": key}).get
    return session_id
