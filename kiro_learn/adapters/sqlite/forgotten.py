"""What was forgotten: ids of events and digests of words, never a text."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw
import attrs

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.statistics import list_parked_clusters
from kiro_learn.model.correction import digest_of
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord


def remember(connection: apsw.Connection, record_id: RecordId) -> set[EventId]:
    """Before a record, alive or replaced, is removed for good. Its columns are taken as they are, damaged or not; that
    sessions were told it is not kept. Answers with the events that it cites.
    """
    connection.execute(statements.FORGET_TOLD, {"item_id": record_id})
    found: list[rows.Row] = connection.execute(statements.WORDS_AND_EVENTS, {"record_id": record_id}).fetchall()
    cited: set[EventId] = set()
    for number, *texts in found:
        title, summary, event_ids_json = ((text or b"").decode("utf-8", "replace") for text in texts)
        values: rows.Values = {"number": number, "event_ids": event_ids_json, "digest": digest_of(title, summary)}
        connection.execute(statements.PUT_FORGOTTEN, values)
        cited |= {EventId(each) for (each,) in connection.execute(statements.CITED_EVENTS, values)}
    return cited


def namespaces_of(connection: apsw.Connection, record_id: RecordId) -> set[int]:
    """The number of the namespace in which the record is, alive or replaced."""
    return {number for (number, *_) in connection.execute(statements.WORDS_AND_EVENTS, {"record_id": record_id})}


def is_forgotten(connection: apsw.Connection, record: MemoryRecord) -> bool:
    """See ``StorageTransaction.is_forgotten``."""
    return has_forgotten(connection, record.namespace, record.source_event_ids) or _asked(
        connection, statements.HAS_FORGOTTEN_WORDS, record
    )


def stays_away(connection: apsw.Connection, record: MemoryRecord) -> bool:
    """Whether undoing does not bring ``record`` back."""
    return _asked(connection, statements.HAS_FORGOTTEN_WORDS_OF_EVENT, record)


def has_forgotten(connection: apsw.Connection, namespace: Namespace | None, event_ids: Iterable[EventId]) -> bool:
    """See ``StorageTransaction.has_forgotten``."""
    known = connection.execute(statements.NAMESPACE_NUMBERS).fetchall()
    values: rows.Values = {"event_ids": json.dumps(list(event_ids))}
    return any(
        connection.execute(statements.HAS_FORGOTTEN_EVENT, values | {"number": number}).get
        for name, number, _ in known
        if namespace in {None, name}
    )


def drop_parked(connection: apsw.Connection) -> None:
    """Of what could not be committed yet, which is seldom anything, what would bring back what was forgotten."""
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
