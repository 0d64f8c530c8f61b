"""Finds what a selection is about, and removes it in pieces of writing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import apsw

from kiro_learn.adapters.sqlite import forgetting_statements as statements
from kiro_learn.adapters.sqlite import history
from kiro_learn.adapters.sqlite.damage import Row, decodable
from kiro_learn.adapters.sqlite.graph_statements import ITEMS_OF_EVENTS_ALONE
from kiro_learn.adapters.sqlite.graph_writes import GraphWrites
from kiro_learn.adapters.sqlite.records import number_of, remove_record
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.adapters.sqlite.statements import CLEAR_TOLD, FORGET_TOLD, NAMESPACE_NUMBERS
from kiro_learn.model.correction import digest_of
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import EventId, RecordId, from_text, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Selected, Selection
from kiro_learn.ports.storage.retention import Forgotten

FIRST, LAST = "", "~"
"""Texts that sort before and after all times."""
KINDS = ("record", "event", "item", "project", "erasure", "copies")


def has_doomed(connection: apsw.Connection) -> bool:
    return any(connection.execute(statements.COUNT_DOOMED, {"kind": kind}).get for kind in KINDS)


def list_forgotten(connection: apsw.Connection) -> Forgotten:
    found = connection.execute(statements.FORGOTTEN)
    return {(EventId(str(event_id)), bytes(digest)) for event_id, digest in found}


def select(connection: apsw.Connection, selection: Selection, *, also: Collection[EventId] = ()) -> Selected:
    """``also``: further events, which are selected too if they are stored."""
    places = _places(connection, selection)
    events = dict(_events(connection, selection, places))
    events |= dict(connection.execute(statements.EVENTS_AMONG_STORED, {"event_ids": json.dumps(list(also))}))
    values = _values(selection) | {"event_ids": json.dumps(list(events))}
    live = _records(connection, (statements.SELECT_RECORDS, statements.LIVE_AMONG), places, values)
    replaced = _records(connection, (statements.SELECT_REPLACED, statements.REPLACED_AMONG), places, values)
    items = _items(connection, places, values)
    alone = {str(each) for (each,) in connection.execute(ITEMS_OF_EVENTS_ALONE, values)}
    return Selected(
        event_ids=tuple(EventId(each) for each in events),
        record_ids=tuple(RecordId(each) for each in (*sorted(live), *sorted(replaced - live))),
        item_ids=items,
        sessions=len(set(events.values())),
        memories=len(live),
        graph_items=len(alone | set(items)),
    )


def with_words(connection: apsw.Connection, forgotten: Forgotten) -> list[RecordId]:
    """The live and replaced records whose words were forgotten together with one of their events."""
    found: list[RecordId] = []
    for record_id, title, summary, cited in decodable(connection.execute(statements.WORDS_OF_ALL)):
        digest = digest_of(str(title), str(summary))
        if any((event_id, digest) in forgotten for event_id in json.loads(cited)):
            found.append(RecordId(str(record_id)))
    return found


def spellings(secret: str) -> list[str]:
    """The forms in which ``secret`` may be written in texts and in JSON."""
    forms = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    return list(dict.fromkeys(forms))


def _places(connection: apsw.Connection, selection: Selection) -> dict[str, int]:
    """The number of each project that is searched, by its namespace."""
    known = {str(namespace): int(number) for namespace, number, _ in connection.execute(NAMESPACE_NUMBERS)}
    if selection.namespace is None:
        return known
    return {name: number for name, number in known.items() if name == selection.namespace}


def _values(selection: Selection) -> Values:
    since, until = selection.since, selection.until
    is_of_time = not (since is None and until is None)
    others = selection.session is not None
    source_alone = selection.source is not None and not (others or is_of_time or selection.secret)
    secret_alone = selection.secret is not None and not (others or is_of_time or selection.source)
    return {
        "record_ids": json.dumps(list(selection.record_ids)),
        "since": FIRST if since is None else to_text(since),
        "until": LAST if until is None else to_text(until),
        "session": selection.session,
        "source": selection.source,
        "secrets": None if selection.secret is None else json.dumps(spellings(selection.secret)),
        "is_whole": selection.is_whole,
        "is_of_time": is_of_time and not (others or selection.source or selection.secret),
        "source_alone": source_alone,
        "secret_alone": secret_alone,
    }


def _events(connection: apsw.Connection, selection: Selection, places: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The selected events, each with its session."""
    if selection.is_of_events:
        values = _values(selection)
        for namespace in places:
            found = connection.execute(statements.SELECT_EVENTS, values | {"namespace": namespace})
            yield from ((str(event_id), str(session_id)) for event_id, session_id in decodable(found))
    if selection.with_events:
        found = connection.execute(statements.EVENTS_OF_RECORDS, _values(selection))
        yield from ((str(event_id), str(session_id)) for event_id, session_id in decodable(found))


def _records(
    connection: apsw.Connection, statement: tuple[str, str], places: dict[str, int], values: Values
) -> set[str]:
    """The selected records. ``statement``: one that searches a project, and one for known ids."""
    of_project, among = statement
    numbers = {"numbers": json.dumps(list(places.values()))}
    found = {str(each) for (each,) in connection.execute(among, values | numbers)}
    for number in places.values():
        found |= {str(each) for (each,) in decodable(connection.execute(of_project, values | {"number": number}))}
    return found


def _items(connection: apsw.Connection, places: dict[str, int], values: Values) -> tuple[str, ...]:
    """The items of the graph that hold the secret; all items if whole projects are selected."""
    if not (values["secret_alone"] or values["is_whole"]):
        return ()
    statement = statements.ITEMS_OF_PROJECT if values["is_whole"] else statements.ITEMS_WITH_SECRET
    found: list[str] = []
    for number in places.values():
        rows = decodable(connection.execute(statement, values | {"number": number, "limit": -1}))
        found += (str(each) for (each,) in rows)
    return tuple(found)


# Removes what was selected, step by step.

ALL_COPIES = "all"
"""The entry of ``doomed`` for all copies of the store, which may still hold what was forgotten."""
AT_ONCE = 1_000


class ForgettingWrites(GraphWrites):
    """The part of a transaction that ``ports.storage.retention`` describes."""

    def doom(self, selected: Selected, *, whole: Namespace | None = None) -> None:
        self._doom("record", selected.record_ids)
        self._doom("event", selected.event_ids)
        self._doom("item", selected.item_ids)
        self.connection.execute(statements.MARK_EVENTS, {"ids": json.dumps(selected.event_ids)})
        self._doom("copies", [ALL_COPIES])
        if whole is not None:
            self._doom("project", [str(number_of(self.connection, whole)[0])])

    def forget_doomed(self, *, limit: int) -> int:
        steps: dict[str, Callable[[Sequence[str]], None]] = {
            "record": lambda ids: self.forget_records(map(RecordId, ids)),
            "item": lambda ids: self.delete_graph_items(list(map(GraphItemId, ids))),
            "event": self._forget_events,
            "project": lambda numbers: self._forget_rest(numbers, limit=limit),
        }
        for kind, remove in steps.items():
            ids = self._doomed(kind, limit)
            if ids:
                remove(ids)
                if kind != "project":  # ``_forget_rest`` does it, once nothing of the project is left
                    self._undoom(kind, ids)
                self._doom("erasure", map(str, self.forgotten_in))
                return len(ids)
        self.forgotten_in |= {int(number) for number in self._doomed("erasure", -1)}
        return 0

    def forgetting_done(self) -> None:
        self._undoom("erasure", self._doomed("erasure", -1))

    def copies_done(self) -> None:
        self._undoom("copies", self._doomed("copies", -1))

    def forget_again(self, forgotten: Forgotten, selection: Selection) -> None:
        erased = [event_id for event_id, digest in forgotten if not digest]
        in_words = Selection(record_ids=tuple(with_words(self.connection, forgotten)))
        self.doom(select(self.connection, in_words, also=erased))
        whole = selection.namespace if selection.is_whole else None
        self.doom(select(self.connection, selection), whole=whole)
        while self.forget_doomed(limit=AT_ONCE):
            pass
        self.forgetting_done()
        self.copies_done()
        # All projects: an earlier attempt may have been killed before it erased anything.
        self.forgotten_in |= {int(number) for _, number, _ in self.connection.execute(NAMESPACE_NUMBERS)}

    def has_erased(self, namespace: Namespace, event_ids: Collection[EventId]) -> bool:
        values = {"namespace": namespace, "event_ids": json.dumps(list(event_ids))}
        return bool(self.connection.execute(statements.IS_ERASED, values).get)

    def forget_records(self, record_ids: Iterable[RecordId]) -> None:
        """Forget the records with all that they replaced, and items of the graph that only their events speak for."""
        event_ids: set[EventId] = set()
        for record_id in record_ids:
            self.forgotten_in |= history.namespaces_of(self.connection, record_id)
            changes, events = history.forget(self.connection, record_id)
            self.changes += changes
            event_ids |= events
        history.drop_parked(self.connection)
        self.forget_graph_of(event_ids)
        self._doom("copies", [ALL_COPIES])

    def withdraw_memory_records(self, records: Sequence[MemoryRecord]) -> None:
        for record in records:
            removed = remove_record(self.connection, record.record_id)
            if removed:
                self.changes += removed
                self.forgotten_in.add(number_of(self.connection, record.namespace)[0])
                self.connection.execute(FORGET_TOLD, {"item_id": record.record_id})

    def _forget_events(self, ids: Sequence[str]) -> None:
        values: Values = {"ids": json.dumps(ids)}
        self._mark_steps(values)
        sessions: list[Row] = self.connection.execute(statements.SESSIONS_OF_EVENTS, values).fetchall()
        self.forgotten_in |= {number_of(self.connection, namespace)[0] for namespace, _ in sessions}
        self.forget_graph_of([EventId(each) for each in ids])
        history.drop_parked(self.connection)
        self._unbuffer(values)
        self.connection.execute(statements.DELETE_EVENTS, values)
        for namespace, session_id in sessions:
            self._forget_session(namespace, session_id)

    def _mark_steps(self, values: Values) -> None:
        """Note digests of the events: an import of an agent's history has other ids, and must not bring them back."""
        rows: list[Row] = self.connection.execute(statements.STEPS_OF_EVENTS, values).fetchall()
        for event_id, namespace, session_id, kind, body_json, valid_time in rows:
            (digest,) = step_digests(session_id, kind, body_json, [moment_number(valid_time)])
            marked: Values = {"event_id": event_id, "namespace": namespace, "digest": digest}
            self.connection.execute(statements.PUT_FORGOTTEN_STEP, marked)

    def is_step_forgotten(self, step: Values) -> bool:
        """Whether the same step of a session was forgotten, at nearly the same time. ``step``: an event's row."""
        place: Values = {"namespace": step["namespace"]}
        if not self.connection.execute(statements.HAS_FORGOTTEN, place).get:
            return False
        session_id, kind, body_json = (str(step[name]) for name in ("session_id", "kind", "body_json"))
        number = moment_number(str(step["valid_time"]))
        near = step_digests(session_id, kind, body_json, (number - 1, number, number + 1))
        values = place | {"digests": json.dumps([each.hex() for each in near])}
        return bool(self.connection.execute(statements.IS_STEP_FORGOTTEN, values).get)

    def _unbuffer(self, values: Values) -> None:
        """Take the events out of the buffer. If one is part of a compaction, its other events wait again one by one."""
        found: list[Row] = self.connection.execute(statements.COMPACTIONS_OF_EVENTS, values).fetchall()
        for position, number, event_ids in found:
            self.connection.execute(statements.DELETE_BUFFERED, {"position": position})
            self.connection.execute(statements.BUFFER_AGAIN, {"number": number, "ids": event_ids})
        self.connection.execute(statements.UNBUFFER_EVENTS, values)

    def _forget_session(self, namespace: Namespace, session_id: str) -> None:
        """If the session has no events left, forget its process and what it was told."""
        session: Values = {"namespace": namespace, "session_id": session_id}
        if not self.connection.execute(statements.HAS_EVENTS_OF_SESSION, session).get:
            self.connection.execute(statements.FORGET_HOOK_SESSION, session)
            self.connection.execute(CLEAR_TOLD, session)

    def _forget_rest(self, numbers: Sequence[str], *, limit: int) -> None:
        """Forget some of a project's graph; once that is empty, the rest of the project."""
        for number in numbers:
            values: Values = {"number": int(number), "limit": limit}
            found: list[Row] = self.connection.execute(statements.ITEMS_OF_PROJECT, values).fetchall()
            self.delete_graph_items([GraphItemId(item_id) for (item_id,) in found])
            if not found:
                values |= {"namespace": self.connection.execute(statements.NAMESPACE_OF_NUMBER, values).get}
                for statement in (
                    statements.FORGET_RUNS,
                    statements.FORGET_USAGE,
                    statements.FORGET_PARKED,
                    statements.FORGET_TOLD_OF_PROJECT,
                    statements.FORGET_NAME,
                ):
                    self.connection.execute(statement, values)
                self.forgotten_in.add(int(number))
                self._undoom("project", [number])

    def _doom(self, kind: str, ids: Iterable[str]) -> None:
        self.connection.execute(statements.DOOM, {"kind": kind, "ids": json.dumps(list(ids))})

    def _undoom(self, kind: str, ids: Sequence[str]) -> None:
        self.connection.execute(statements.UNDOOM, {"kind": kind, "ids": json.dumps(list(ids))})

    def _doomed(self, kind: str, limit: int) -> list[str]:
        found = self.connection.execute(statements.DOOMED, {"kind": kind, "limit": limit})
        return [str(each) for (each,) in found]


# Digests by which a forgotten step of a session is recognised. No text of it is kept.

SECONDS = 10
"""The length of a period. Times of one step in a hook and in an agent's history differ by less than half of it."""
DIGEST_BYTES = 16


def moment_number(valid_time: str) -> int:
    """The number of the period in which an event happened. The same step may have the number before or after it."""
    return int(from_text(valid_time).timestamp()) // SECONDS


def step_digests(session_id: str, kind: str, body_json: str, numbers: Iterable[int]) -> list[bytes]:
    """A digest for each period, of a text, or of a tool and its input: histories write the output otherwise."""
    said = _digest(json.dumps([session_id, kind, _said(kind, body_json)]).encode())
    return [_digest(said + str(number).encode()) for number in numbers]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _said(kind: str, body_json: str) -> Any:
    if kind != "tool_use":
        return body_json
    try:
        data = json.loads(body_json).get("data")
    except (ValueError, AttributeError):
        return body_json
    return [data.get("tool_name"), data.get("tool_input")] if isinstance(data, dict) else body_json
