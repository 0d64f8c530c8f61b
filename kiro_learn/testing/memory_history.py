"""Replaced records in ``InMemoryStorage``, as functions of its state."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kiro_learn.errors import InvalidRequest, NothingToUndo, ReplacedSince, UnknownRecord
from kiro_learn.model.forgetting import digest_of
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.testing.memory_state import State


def is_known(state: State, record_id: RecordId) -> bool:
    """Alive or replaced."""
    return record_id in state.records or record_id in state.history


def refuse_strange_replacement(state: State, replacement: Replacement) -> None:
    """Raises what ``StorageTransaction.replace_memory_records`` does."""
    going = [record.record_id for record in replacement.replaced]
    for record_id in (*going, *replacement.replacing):
        record = state.records.get(record_id)
        if record is None or record.namespace != replacement.namespace:
            raise UnknownRecord(record_id)
    for record_id in replacement.replacing:
        if record_id in going or record_id in state.brought_by:
            raise InvalidRequest([("$.replacing", f"expected records that came with it, found {record_id}")])
    if replacement.replacement_id in state.replacements:
        raise InvalidRequest([("$.replacement_id", "expected one that is not known yet")])


def replaced_with(state: State, replacement_id: str) -> list[RecordId]:
    """The ids that went with a replacement and are still kept, sorted."""
    return sorted(record_id for record_id, by in state.replaced_by.items() if by == replacement_id)


def drop_replacement(state: State, replacement_id: str) -> None:
    for record_id in state.replacements.pop(replacement_id).replacing:
        del state.brought_by[record_id]


def replacement_to_undo(state: State, record_id: RecordId) -> Replacement:
    """Raises what ``StorageTransaction.undo_replacement`` does."""
    if not is_known(state, record_id):
        raise UnknownRecord(record_id)
    if record_id not in state.brought_by:
        raise NothingToUndo(record_id)
    replacement = state.replacements[state.brought_by[record_id]]
    gone = _first_gone(state, replacement)
    if gone is not None:
        raise ReplacedSince(gone, replaced_by=_first_to_undo(state, gone))
    undone = told(state, replacement)
    if len(staying_away(state, undone)) == len(undone.replaced):
        raise NothingToUndo(record_id)
    return undone


def staying_away(state: State, replacement: Replacement) -> list[MemoryRecord]:
    """Those of what went of which the same was forgotten meanwhile."""
    return [
        record
        for record in replacement.replaced
        if any((record.namespace, event_id, _digest(record)) in state.forgotten for event_id in record.source_event_ids)
    ]


def remember_forgotten(state: State, record_id: RecordId) -> None:
    """Before it is removed for good."""
    state.forget_told(record_id)
    record = state.history.get(record_id) or state.records.get(record_id)
    if record is None:
        return
    state.forgotten |= {(record.namespace, event_id, _digest(record)) for event_id in record.source_event_ids}


def is_forgotten(state: State, record: MemoryRecord) -> bool:
    """See ``StorageTransaction.is_forgotten``."""
    return has_forgotten(state, record.namespace, record.source_event_ids) or any(
        (namespace, digest) == (record.namespace, _digest(record)) for namespace, _, digest in state.forgotten
    )


def has_forgotten(state: State, namespace: Namespace, event_ids: Iterable[EventId]) -> bool:
    """See ``StorageTransaction.has_forgotten``."""
    return not {found[:2] for found in state.forgotten}.isdisjoint((namespace, each) for each in event_ids)


def drop_forgotten_clusters(state: State) -> None:
    """Of what could not be committed yet, what would bring back what was forgotten."""
    for cluster_id, cluster in tuple(state.parked_clusters.items()):
        left = tuple(record for record in cluster.records if not is_forgotten(state, record))
        if left:
            state.parked_clusters[cluster_id] = attrs.evolve(cluster, records=left)
        else:
            del state.parked_clusters[cluster_id]


def _digest(record: MemoryRecord) -> bytes:
    return digest_of(record.title, record.summary)


def _first_gone(state: State, replacement: Replacement) -> RecordId | None:
    return next((record_id for record_id in replacement.replacing if record_id in state.history), None)


def _first_to_undo(state: State, gone: RecordId) -> RecordId:
    """The live record whose replacement stands before the way back to ``gone``, and has nothing before its own."""
    replacement = state.replacements[state.replaced_by[gone]]
    while (later := _first_gone(state, replacement)) is not None:
        replacement = state.replacements[state.replaced_by[later]]
    return replacement.replacing[0]


def told(state: State, replacement: Replacement) -> Replacement:
    """With the records that are still kept, as they were."""
    kept = (state.history[record_id] for record_id in replaced_with(state, replacement.replacement_id))
    return attrs.evolve(replacement, replaced=tuple(kept))


def list_replacements(state: State, record_id: RecordId) -> tuple[Replacement, ...]:
    found: set[str] = set()
    waiting = [record_id]
    while waiting:
        replacement_id = state.brought_by.get(waiting.pop())
        if replacement_id is not None and replacement_id not in found:
            found.add(replacement_id)
            waiting += replaced_with(state, replacement_id)
    newest_first = reversed(state.replacements.values())
    return tuple(told(state, each) for each in newest_first if each.replacement_id in found)
