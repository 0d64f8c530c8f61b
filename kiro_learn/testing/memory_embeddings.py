"""What ``InMemoryStorage`` knows of vectors and of the models that made them, as functions of its state."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.embedding_model import BUNDLED_MODEL, KnownModel, ModelIdentity, ModelsInUse, ReembeddingCounts
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.model.vectors import Codes, Parts, are_parts
from kiro_learn.ports.storage.answers import EmbeddingTable
from kiro_learn.ports.storage.changes import Change, ModelSwitched, RecordEmbedded
from kiro_learn.testing.memory_state import State


def put_embedding(state: State, record_id: RecordId, embedding: Parts, model: ModelIdentity) -> list[Change]:
    if not are_parts(embedding, model.dimension):
        raise DimensionMismatch(record_id=record_id, wanted=model.dimension, found=embedding.size)
    if not _is_wanted(state, record_id, model):
        return []
    parts = np.array(embedding, np.float32)
    parts.setflags(write=False)
    state.set_aside.pop((record_id, model), None)
    state.embeddings[record_id, model] = parts
    return embedding_of(state, state.records[record_id]) if state.serving(_home(state, record_id)) == model else []


def set_aside(state: State, record_id: RecordId, reason: str, model: ModelIdentity) -> None:
    if _is_wanted(state, record_id, model) and (record_id, model) not in state.embeddings:
        state.set_aside[record_id, model] = reason


def put_passages(state: State, record_id: RecordId, codes: Codes, model: ModelIdentity) -> None:
    if _is_wanted(state, record_id, model):
        state.passages[record_id, model] = codes.copy()


def _is_wanted(state: State, record_id: RecordId, model: ModelIdentity) -> bool:
    if record_id not in state.records:
        return False
    return model in {state.serving(_home(state, record_id)), state.current_model.identity}


def _home(state: State, record_id: RecordId) -> Namespace:
    return state.records[record_id].namespace


def embedding_of(state: State, record: MemoryRecord) -> list[Change]:
    """What the indexes are told of the record, if it has a vector that serves."""
    model = state.serving(record.namespace)
    parts = state.embeddings.get((record.record_id, model))
    if parts is None:
        return []
    return [RecordEmbedded(record.namespace, record.record_id, record.created_at, parts, model)]


def drop_embeddings(state: State, record_id: RecordId) -> None:
    """Of all models, unless the record is still there, alive or replaced."""
    if record_id not in state.records and record_id not in state.history:
        for table in (state.embeddings, state.set_aside, state.passages):
            for key in [key for key in table if key[0] == record_id]:
                del table[key]


def adopt_model(state: State, model: KnownModel) -> list[Change]:
    state.current_model = state.known_models[model.identity] = model
    changes = [change for namespace in list(state.serving_models) for change in switch_model(state, namespace)]
    used = {BUNDLED_MODEL, model.identity, *state.serving_models.values()}
    state.embeddings = {key: parts for key, parts in state.embeddings.items() if key[1] in used}
    state.set_aside = {key: reason for key, reason in state.set_aside.items() if key[1] in used}
    state.passages = {key: codes for key, codes in state.passages.items() if key[1] in used}
    return changes


def switch_model(state: State, namespace: Namespace) -> list[Change]:
    before, current = state.serving(namespace), state.current_model.identity
    if before == current:
        return []
    ids = [record.record_id for record in state.records_of(namespace)]
    is_behind = any(not _is_done(state, record_id, current) for record_id in ids)
    if is_behind and any((record_id, before) in state.embeddings for record_id in ids):
        return []
    state.serving_models[namespace] = current
    return [ModelSwitched(namespace, current)]


def _is_done(state: State, record_id: RecordId, model: ModelIdentity) -> bool:
    return (record_id, model) in state.embeddings or (record_id, model) in state.set_aside


def get_models(state: State) -> ModelsInUse:
    earlier = {
        namespace: state.known_models[model]
        for namespace, model in state.serving_models.items()
        if model != state.current_model.identity
    }
    return ModelsInUse(state.current_model, earlier)


def list_embeddings(state: State, namespace: Namespace) -> EmbeddingTable:
    model = state.serving(namespace)
    embedded = [
        each for each in newest_first(state.records_of(namespace)) if (each.record_id, model) in state.embeddings
    ]
    embedded.reverse()
    parts = [state.embeddings[record.record_id, model] for record in embedded]
    return EmbeddingTable(
        tuple(record.record_id for record in embedded),
        tuple(record.created_at for record in embedded),
        tuple(map(len, parts)),
        np.concatenate([np.empty((0, model.dimension), np.float32), *parts]),
        model,
    )


def list_unembedded(state: State, limit: int, leave_out: Collection[Namespace]) -> list[MemoryRecord]:
    waiting = (
        record
        for record in _readable(state)
        if record.namespace not in leave_out and not _is_done(state, record.record_id, state.serving(record.namespace))
    )
    return newest_first(waiting)[:limit]


def list_without_passages(state: State, limit: int, leave_out: Collection[Namespace]) -> list[MemoryRecord]:
    keys = {
        (record.record_id, state.serving(record.namespace)): record
        for record in _readable(state)
        if record.namespace not in leave_out
    }
    waiting = keys.keys() & state.embeddings.keys() - state.passages.keys()
    return newest_first(keys[key] for key in waiting)[:limit]


def get_passages(state: State, record_ids: Sequence[RecordId], model: ModelIdentity) -> dict[RecordId, Codes]:
    alive = (record_id for record_id in record_ids if record_id in state.records)
    return {record_id: state.passages[record_id, model] for record_id in alive if (record_id, model) in state.passages}


def _readable(state: State) -> list[MemoryRecord]:
    return [record for record in state.records.values() if record.record_id not in state.damaged_rows]


def list_behind(state: State, limit: int) -> list[MemoryRecord]:
    current = state.current_model.identity
    return [
        record
        for namespace in get_models(state).earlier
        for record in newest_first(state.records_of(namespace))
        if not _is_done(state, record.record_id, current) and record.record_id not in state.damaged_rows
    ][:limit]


def count_embeddings(state: State, namespace: Namespace | None) -> EmbeddingCounts:
    keys = {(record.record_id, state.serving(record.namespace)) for record in state.records_of(namespace)}
    return EmbeddingCounts(len(keys), len(keys & state.embeddings.keys()), len(keys & state.set_aside.keys()))


def count_reembedded(state: State) -> ReembeddingCounts:
    records = [record for namespace in get_models(state).earlier for record in state.records_of(namespace)]
    done = [record for record in records if _is_done(state, record.record_id, state.current_model.identity)]
    return ReembeddingCounts(len(records), len(done))
