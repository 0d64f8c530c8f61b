"""What a selection finds."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

import apsw

from kiro_learn.adapters.sqlite import forgetting_statements as statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.graph_statements import ITEMS_OF_EVENTS_ALONE
from kiro_learn.adapters.sqlite.readers import reading
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.adapters.sqlite.statements import NAMESPACE_NUMBERS
from kiro_learn.model.correction import digest_of
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.moment import to_text
from kiro_learn.model.retention import Selected, Selection
from kiro_learn.ports.storage.retention import Forgotten

FIRST, LAST = "", "~"
"""Before and after all moments, as text."""
KINDS = ("record", "event", "item", "project", "erasure", "copies")


def has_doomed(connection: apsw.Connection) -> bool:
    return any(connection.execute(statements.COUNT_DOOMED, {"kind": kind}).get for kind in KINDS)


def list_forgotten(connection: apsw.Connection) -> Forgotten:
    found = connection.execute(statements.FORGOTTEN)
    return {(EventId(str(event_id)), bytes(digest)) for event_id, digest in found}


def select(connection: apsw.Connection, selection: Selection, *, also: Collection[EventId] = ()) -> Selected:
    """``also``: events that are there are among those that it finds."""
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
    """The records, live or replaced, that say what was forgotten of one of their events."""
    found: list[RecordId] = []
    for record_id, title, summary, cited in decodable(connection.execute(statements.WORDS_OF_ALL)):
        digest = digest_of(str(title), str(summary))
        if any((event_id, digest) in forgotten for event_id in json.loads(cited)):
            found.append(RecordId(str(record_id)))
    return found


def spellings(secret: str) -> list[str]:
    """As it may stand in texts and in JSON."""
    forms = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    return list(dict.fromkeys(forms))


def _places(connection: apsw.Connection, selection: Selection) -> dict[str, int]:
    """The number of each project that is looked through, by its namespace."""
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
    """Each event with its session."""
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
    """``statement``: one that looks through a project, and one that knows the ids."""
    of_project, among = statement
    found = {str(each) for (each,) in connection.execute(among, values)}
    for number in places.values():
        found |= {str(each) for (each,) in decodable(connection.execute(of_project, values | {"number": number}))}
    return found


def _items(connection: apsw.Connection, places: dict[str, int], values: Values) -> tuple[str, ...]:
    """Those that hold the secret."""
    if not values["secret_alone"]:
        return ()
    found: list[str] = []
    for number in places.values():
        rows = decodable(connection.execute(statements.ITEMS_WITH_SECRET, values | {"number": number}))
        found += (str(each) for (each,) in rows)
    return tuple(found)


class ForgettingReads:
    """The part of the store that ``ports.storage.forgetting`` describes."""

    select = reading(select)
    has_doomed = reading(has_doomed)
    list_forgotten = reading(list_forgotten)
