"""Records that are no longer live: replaces records, undoes a replacement, and remembers what was forgotten.

Only ids of events and digests of words are kept of a forgotten record, never a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw
import attrs

from kiro_learn.adapters.sqlite import forgetting_statements, record_statements, rows, statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row
from kiro_learn.adapters.sqlite.embeddings import embedding_put_back
from kiro_learn.adapters.sqlite.records import is_known, number_of, put_words, remove_record
from kiro_learn.adapters.sqlite.rows import Values, to_record, to_replacement
from kiro_learn.adapters.sqlite.statistics import list_parked_clusters
from kiro_learn.errors import InvalidRequest, NothingToUndo, ReplacedSince, UnknownRecord
from kiro_learn.model.correction import Replacement, digest_of
from kiro_learn.model.ids import EventId, RecordId, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import Change


def remember(connection: apsw.Connection, record_id: RecordId) -> set[EventId]:
    """Note that a record is forgotten, before it is removed for good; returns the events that it cites.

    The record may be live or replaced, and its columns may be damaged. The notes of sessions that were told it go.
    """
    connection.execute(statements.FORGET_TOLD, {"item_id": record_id})
    found: list[Row] = connection.execute(forgetting_statements.WORDS_AND_EVENTS, {"record_id": record_id}).fetchall()
    cited: set[EventId] = set()
    for number, *texts in found:
        title, summary, event_ids_json = ((text or b"").decode("utf-8", "replace") for text in texts)
        values: rows.Values = {"number": number, "event_ids": event_ids_json, "digest": digest_of(title, summary)}
        connection.execute(forgetting_statements.PUT_FORGOTTEN, values)
        cited |= {EventId(each) for (each,) in connection.execute(forgetting_statements.CITED_EVENTS, values)}
    return cited


def namespaces_of(connection: apsw.Connection, record_id: RecordId) -> set[int]:
    """The number of the namespace of a live or replaced record; empty if there is none."""
    return {
        number for (number, *_) in connection.execute(forgetting_statements.WORDS_AND_EVENTS, {"record_id": record_id})
    }


def is_forgotten(connection: apsw.Connection, record: MemoryRecord) -> bool:
    """See ``StorageTransaction.is_forgotten``."""
    return has_forgotten(connection, record.namespace, record.source_event_ids) or _asked(
        connection, forgetting_statements.HAS_FORGOTTEN_WORDS, record
    )


def stays_away(connection: apsw.Connection, record: MemoryRecord) -> bool:
    """Whether ``record`` stays away when a replacement is undone, since the same words were forgotten."""
    return _asked(connection, forgetting_statements.HAS_FORGOTTEN_WORDS_OF_EVENT, record)


def has_forgotten(connection: apsw.Connection, namespace: Namespace | None, event_ids: Iterable[EventId]) -> bool:
    """See ``StorageTransaction.has_forgotten``."""
    known = connection.execute(statements.NAMESPACE_NUMBERS).fetchall()
    values: rows.Values = {"event_ids": json.dumps(list(event_ids))}
    return any(
        connection.execute(forgetting_statements.HAS_FORGOTTEN_EVENT, values | {"number": number}).get
        for name, number, _ in known
        if namespace in {None, name}
    )


def drop_parked(connection: apsw.Connection) -> None:
    """Drop parked records that would bring back forgotten ones. There are seldom any parked records."""
    for cluster in list_parked_clusters(connection, DamagedRows(), None):
        left = tuple(record for record in cluster.records if not is_forgotten(connection, record))
        if not left:
            connection.execute(statements.UNPARK_CLUSTER, {"cluster_id": cluster.cluster_id})
        elif len(left) < len(cluster.records):
            connection.execute(statements.PARK_CLUSTER, rows.from_cluster(attrs.evolve(cluster, records=left)))


def _asked(connection: apsw.Connection, statement: str, record: MemoryRecord) -> bool:
    found = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": record.namespace}).fetchone()
    if found is None:
        return False
    values = {"number": found[0], "digest": digest_of(record.title, record.summary)}
    return bool(connection.execute(statement, values | {"event_ids": json.dumps(record.source_event_ids)}).get)


def list_replacements(
    connection: apsw.Connection, damaged: DamagedRows, record_id: RecordId
) -> tuple[Replacement, ...]:
    numbers: list[Row] = connection.execute(record_statements.REPLACEMENTS_BEFORE, {"record_id": record_id}).fetchall()
    return tuple(damaged.only_readable(numbers, lambda row: replacement_of(connection, row[0], damaged)))


def find_successors(connection: apsw.Connection, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
    asked: rows.Values = {"namespace": namespace, "ending": ending, "limit": limit}
    return sorted(RecordId(str(record_id)) for (record_id,) in connection.execute(statements.SUCCESSORS, asked))


def replacement_of(connection: apsw.Connection, number: int, damaged: DamagedRows) -> Replacement:
    """The replacement of this number, with the records that are still kept and can be read.

    Raises:
      DamagedRow: the replacement cannot be read, or none of its records can.
    """
    values = {"replacement": number}
    replaced = connection.execute(record_statements.REPLACED_RECORDS, values)
    return to_replacement(
        connection.execute(record_statements.REPLACEMENT, values).get,
        replacing=replacing_in(connection, number),
        replaced=tuple(damaged.only_readable((tuple(row) for _number, *row in replaced), to_record)),
    )


def replacing_in(connection: apsw.Connection, number: int) -> tuple[RecordId, ...]:
    found = connection.execute(record_statements.REPLACING, {"replacement": number})
    return tuple(record_id for (record_id,) in found)


def came_with(connection: apsw.Connection, record_id: RecordId) -> int | None:
    """The number of the replacement that the record came with; None if it came with none."""
    number: int | None = connection.execute(record_statements.CAME_WITH, {"record_id": record_id}).get
    return number


def first_gone(connection: apsw.Connection, number: int) -> tuple[RecordId, int] | None:
    """The first new record of a replacement that was replaced itself, and the number of that later replacement."""
    row = connection.execute(record_statements.FIRST_GONE, {"replacement": number}).fetchone()
    return None if row is None else (row[0], row[1])


# Replaces records, undoes a replacement, and forgets a record with all records that it replaced.
#
# Functions that change live records return the changes, in order.


def replace(connection: apsw.Connection, replacement: Replacement) -> list[Change]:
    numbers = {each.record_id: _number_of(connection, each.record_id, replacement) for each in replacement.replaced}
    _refuse_strange_arrivals(connection, replacement)
    number = _enter(connection, replacement)
    changes: list[Change] = []
    for record_id, record_number in numbers.items():
        connection.execute(record_statements.KEEP_REPLACED, {"replacement": number, "number": record_number})
        changes += remove_record(connection, record_id)
    connection.execute(record_statements.HAND_ON_PINS, {"replacement": number})
    return changes


def _number_of(connection: apsw.Connection, record_id: RecordId, replacement: Replacement) -> int:
    found = connection.execute(record_statements.FIND_RECORD, {"record_id": record_id}).fetchone()
    if found is None or found[2] != replacement.namespace:
        raise UnknownRecord(record_id)
    number: int = found[0]
    return number


def _refuse_strange_arrivals(connection: apsw.Connection, replacement: Replacement) -> None:
    for record_id in replacement.replacing:
        _number_of(connection, record_id, replacement)
    replaced_ids = {record.record_id for record in replacement.replaced}
    for record_id in replacement.replacing:
        if record_id in replaced_ids or came_with(connection, record_id) is not None:
            raise InvalidRequest([("$.replacing", f"expected records that came with it, found {record_id}")])
    known = connection.execute(record_statements.FIND_REPLACEMENT, {"replacement_id": replacement.replacement_id}).get
    if known is not None:
        raise InvalidRequest([("$.replacement_id", "expected one that is not known yet")])


def _enter(connection: apsw.Connection, replacement: Replacement) -> int:
    values: Values = {
        "replacement_id": replacement.replacement_id,
        "namespace_number": number_of(connection, replacement.namespace)[0],
        "reason": replacement.reason.value,
        "replaced_at": to_text(replacement.replaced_at),
    }
    number: int = connection.execute(record_statements.PUT_REPLACEMENT, values).get
    for place, record_id in enumerate(dict.fromkeys(replacement.replacing)):
        arrival: Values = {"replacement": number, "place": place, "record_id": record_id}
        connection.execute(record_statements.PUT_REPLACING, arrival)
    return number


def undo(connection: apsw.Connection, record_id: RecordId) -> tuple[Replacement, list[Change]]:
    number = _number_to_undo(connection, record_id)
    undone = _without_forgotten(connection, record_id, replacement_of(connection, number, DamagedRows()))
    changes: list[Change] = []
    for came in undone.replacing:
        changes += remove_record(connection, came)
        connection.execute(statements.FORGET_TOLD, {"item_id": came})
    changes += _put_back(connection, number)
    connection.execute(record_statements.FORGET_REPLACED_WITH, {"replacement": number}).fetchall()
    connection.execute(record_statements.DELETE_EMPTY_REPLACEMENT, {"replacement": number})
    return undone, changes


def _without_forgotten(connection: apsw.Connection, record_id: RecordId, replacement: Replacement) -> Replacement:
    """``replacement`` without the records whose words were forgotten meanwhile, which are deleted.

    Raises:
      NothingToUndo: no record is left.
    """
    away = [record for record in replacement.replaced if stays_away(connection, record)]
    for record in away:
        connection.execute(record_statements.FORGET_REPLACED, {"record_id": record.record_id}).fetchall()
        connection.execute(statements.FORGET_TOLD, {"item_id": record.record_id})
    left = tuple(record for record in replacement.replaced if record not in away)
    if not left:
        raise NothingToUndo(record_id)
    return attrs.evolve(replacement, replaced=left)


def _number_to_undo(connection: apsw.Connection, record_id: RecordId) -> int:
    if not is_known(connection, record_id):
        raise UnknownRecord(record_id)
    number = came_with(connection, record_id)
    if number is None:
        raise NothingToUndo(record_id)
    gone = first_gone(connection, number)
    if gone is not None:
        raise ReplacedSince(gone[0], replaced_by=_first_to_undo(connection, gone[1]))
    return number


def _first_to_undo(connection: apsw.Connection, number: int) -> RecordId:
    """The live record whose replacement must be undone first, before that of ``number`` can be undone."""
    while (later := first_gone(connection, number)) is not None:
        number = later[1]
    return replacing_in(connection, number)[0]


def _put_back(connection: apsw.Connection, number: int) -> list[Change]:
    values = {"replacement": number}
    connection.execute(record_statements.PUT_BACK_REPLACED, values)
    changes: list[Change] = []
    replaced: list[Row] = connection.execute(record_statements.REPLACED_RECORDS, values).fetchall()
    for record_number, *row in replaced:
        record = to_record(tuple(row))
        changes.append(put_words(connection, record_number, record))
        changes += embedding_put_back(connection, record_number, record)
    return changes


def forget(connection: apsw.Connection, record_id: RecordId) -> tuple[list[Change], set[EventId]]:
    """Forget a live or replaced record, all that it replaced, and so on; also returns the events that they cite."""
    cited = remember(connection, record_id)
    changes = remove_record(connection, record_id)
    went_with = connection.execute(record_statements.FORGET_REPLACED, {"record_id": record_id}).fetchall()
    for (number,) in went_with:
        connection.execute(record_statements.DELETE_EMPTY_REPLACEMENT, {"replacement": number})
    doomed = [record_id]
    while doomed:
        number = came_with(connection, doomed.pop())
        if number is not None:
            values = {"replacement": number}
            gone: list[Row] = connection.execute(forgetting_statements.REPLACED_IDS, values).fetchall()
            for (each,) in gone:
                cited |= remember(connection, each)
            connection.execute(record_statements.FORGET_REPLACED_WITH, values).fetchall()
            doomed += [each for (each,) in gone]
            connection.execute(record_statements.DELETE_EMPTY_REPLACEMENT, values)
    return changes, cited
