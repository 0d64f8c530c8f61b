"""Restores what another store kept, piece by piece. A piece whose id is known is not restored again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import apsw

from kiro_learn.adapters.sqlite import export as statements
from kiro_learn.adapters.sqlite import graph_statements, graph_writes, records, rows
from kiro_learn.adapters.sqlite.forgetting_statements import IS_ERASED
from kiro_learn.adapters.sqlite.graph_rows import from_evidence, kind_of_item
from kiro_learn.adapters.sqlite.history import stays_away
from kiro_learn.adapters.sqlite.merging import BEGIN_MERGE
from kiro_learn.adapters.sqlite.record_statements import PUT_REPLACEMENT, PUT_REPLACING
from kiro_learn.adapters.sqlite.sessions import pause_key
from kiro_learn.errors import StorageError
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.graph import Evidence, GraphItem
from kiro_learn.model.ids import EventId, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import ToldItem
from kiro_learn.model.stored import (
    Restored,
    Stored,
    StoredEvent,
    StoredForgotten,
    StoredMemory,
    StoredMerge,
    StoredPause,
    StoredProject,
    StoredReplaced,
)
from kiro_learn.ports.storage.answers import Change, GraphChanged


def restore(connection: apsw.Connection, piece: Stored, changes: list[Change]) -> Restored:
    """See ``RestoreWrites.restore``; adds its changes to ``changes``."""
    return _WRITES.get(type(piece), _restore_item)(connection, piece, changes)


def _restore_memory(connection: apsw.Connection, memory: StoredMemory, changes: list[Change]) -> Restored:
    if (found := _found(connection, memory)) is not None:
        return found
    changes += records.put_record(connection, memory.record)
    if memory.distilled_at or memory.file_digests:
        notes: rows.Values = {
            "record_id": memory.record.record_id,
            "distilled_at": memory.distilled_at and to_text(memory.distilled_at),
            "digests": json.dumps(memory.file_digests) if memory.file_digests else None,
        }
        connection.execute(statements.RESTORE_NOTES, notes)
    return Restored.STORED


def _restore_item(connection: apsw.Connection, item: GraphItem, changes: list[Change]) -> Restored:
    kind = kind_of_item(item)
    if not isinstance(item, graph_statements.VALUE_TYPES[kind]):
        raise StorageError(f"{item.item_id} is the id of another kind of item")
    if connection.execute(graph_statements.NUMBER_OF_ITEM[kind], {"id": item.item_id}).get is not None:
        return Restored.KNOWN
    graph_writes.put_items(connection, [item])
    changes.append(GraphChanged(item.namespace))
    return Restored.STORED


def _restore_evidence(connection: apsw.Connection, evidence: Evidence, _changes: list[Change]) -> Restored:
    return _put(connection, statements.RESTORE_EVIDENCE, from_evidence(evidence))


def _restore_parked(connection: apsw.Connection, cluster: ParkedCluster, _changes: list[Change]) -> Restored:
    return _put(connection, statements.RESTORE_PARKED, rows.from_cluster(cluster))


def _restore_told(connection: apsw.Connection, told: ToldItem, _changes: list[Change]) -> Restored:
    values: rows.Values = {
        "namespace_number": records.number_of(connection, told.namespace)[0],
        "session_id": told.session_id,
        "item_id": told.item_id,
        "prompt_number": told.prompt_number,
    }
    return _put(connection, statements.RESTORE_TOLD, values)


def _restore_forgotten(connection: apsw.Connection, forgotten: StoredForgotten, _changes: list[Change]) -> Restored:
    values: rows.Values = {
        "namespace_number": records.number_of(connection, forgotten.namespace)[0],
        "event_id": forgotten.event_id,
        "digest": bytes.fromhex(forgotten.digest),
    }
    return _put(connection, statements.RESTORE_FORGOTTEN, values)


def _put(connection: apsw.Connection, statement: str, values: rows.Values) -> Restored:
    connection.execute(statement, values)
    return Restored.STORED if connection.changes() else Restored.KNOWN


def _found(connection: apsw.Connection, memory: StoredMemory) -> Restored | None:
    """Why the memory is not restored; None if it is to be restored."""
    if records.is_known(connection, memory.record.record_id):
        return Restored.KNOWN
    record = memory.record
    is_gone = stays_away(connection, record) or _is_erased(connection, record.namespace, record.source_event_ids)
    return Restored.FORGOTTEN if is_gone else None


def _is_erased(connection: apsw.Connection, namespace: Namespace, event_ids: Sequence[EventId]) -> bool:
    values = {"namespace": namespace, "event_ids": json.dumps(event_ids)}
    return bool(connection.execute(IS_ERASED, values).get)


def _restore_project(connection: apsw.Connection, project: StoredProject, _changes: list[Change]) -> Restored:
    values: rows.Values = {
        "number": records.number_of(connection, project.namespace)[0],
        "name": project.name,
        "folder": project.folder,
    }
    connection.execute(statements.RESTORE_PROJECT, values)
    return Restored.STORED


def _restore_merge(connection: apsw.Connection, merge: StoredMerge, _changes: list[Change]) -> Restored:
    """Merges a project only if it is empty here. A person merges one that has memories."""
    numbers = [records.number_of(connection, each)[0] for each in (merge.source, merge.target)]
    place: rows.Values = {"source": numbers[0], "target": numbers[1], "source_name": merge.source}
    if connection.execute(statements.IS_MERGED, place).get:
        return Restored.KNOWN
    if numbers[0] == numbers[1] or connection.execute(statements.IS_MERGED, {"source": numbers[1]}).get:
        raise StorageError("the project that it was merged into is part of another one here")
    if connection.execute(statements.HOLDS_SOMETHING, place).get:
        raise StorageError("the project has memories of its own here; kiro-learn projects merge moves them")
    connection.execute(BEGIN_MERGE, place)
    return Restored.STORED


def _restore_pause(connection: apsw.Connection, pause: StoredPause, _changes: list[Change]) -> Restored:
    values = pause_key(pause.namespace, pause.session_id) | {"since": to_text(pause.since)}
    return _put(connection, statements.RESTORE_PAUSE, values)


def _restore_event(connection: apsw.Connection, stored: StoredEvent, _changes: list[Change]) -> Restored:
    if _is_erased(connection, stored.event.namespace, [stored.event.event_id]):
        return Restored.FORGOTTEN
    values = rows.from_event(stored.event, transaction_time=stored.stored_at)
    expired = {
        "expired_at": stored.expired_at and to_text(stored.expired_at),
        "expired_bytes": stored.expired_bytes,
    }
    if _put(connection, statements.RESTORE_EVENT, values | expired) is Restored.KNOWN:
        return Restored.KNOWN
    number, _ = records.number_of(connection, stored.event.namespace)
    if stored.waits is not None:
        entry: rows.Values = {
            "namespace_number": number,
            "is_parked": stored.waits == "parked",
            "event_id": stored.event.event_id,
            "size_bytes": rows.size_of(values["body_json"]),
        }
        connection.execute(statements.RESTORE_WAITING, entry)
    return Restored.STORED


def _restore_replaced(connection: apsw.Connection, stored: StoredReplaced, _changes: list[Change]) -> Restored:
    record = stored.memory.record
    if (found := _found(connection, stored.memory)) is not None:
        return found
    numbers = records.new_number(connection, record.namespace)
    distilled_at = stored.memory.distilled_at
    values = rows.from_record(record) | numbers
    values |= {
        "replacement_number": _replacement(connection, stored, numbers),
        "distilled_at": distilled_at and to_text(distilled_at),
    }
    connection.execute(statements.RESTORE_REPLACED, values)
    return Restored.STORED


def _replacement(connection: apsw.Connection, stored: StoredReplaced, numbers: rows.Values) -> int:
    """The number of the replacement, which is made with the first of its records."""
    asked = {"replacement_id": stored.replacement_id}
    known = connection.execute(statements.REPLACEMENT_NUMBER, asked).get
    if known is not None:
        if known[1] != stored.memory.record.namespace:
            raise StorageError("the replacement is of another project")
        return int(known[0])
    values = asked | {
        "namespace_number": numbers["namespace_number"],
        "reason": stored.reason.value,
        "replaced_at": to_text(stored.replaced_at),
    }
    number: int = connection.execute(PUT_REPLACEMENT, values).get
    for place, record_id in enumerate(stored.replacing):
        connection.execute(PUT_REPLACING, {"replacement": number, "place": place, "record_id": record_id})
    return number


_WRITES: dict[type, Callable[[apsw.Connection, Any, list[Change]], Restored]] = {
    StoredProject: _restore_project,
    StoredMerge: _restore_merge,
    StoredPause: _restore_pause,
    StoredEvent: _restore_event,
    StoredReplaced: _restore_replaced,
    StoredMemory: _restore_memory,
    Evidence: _restore_evidence,
    ParkedCluster: _restore_parked,
    ToldItem: _restore_told,
    StoredForgotten: _restore_forgotten,
}
"""The functions that restore pieces that are no items of the graph."""
