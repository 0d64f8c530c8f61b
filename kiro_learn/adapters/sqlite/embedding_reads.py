"""Queries about vectors, and about the models that made them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import islice

import apsw
import structlog

from kiro_learn.adapters.sqlite import rows, statements, vectors
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.embedding_writes import BUNDLED
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.model.vectors import BUNDLED_MODEL, Codes, ModelIdentity, ModelsInUse, ReembeddingCounts
from kiro_learn.ports.storage.answers import EmbeddingTable

log = structlog.get_logger()


def get_models(connection: apsw.Connection) -> ModelsInUse:
    _, *current = connection.execute(statements.CURRENT_MODEL).get
    behind = connection.execute(statements.NAMESPACES_BEHIND)
    return ModelsInUse(
        rows.to_known_model(current), {namespace: rows.to_known_model(model) for _, namespace, *model in behind}
    )


def list_unembedded(
    connection: apsw.Connection, damaged: DamagedRows, limit: int, *, leave_out: Collection[Namespace] = ()
) -> list[MemoryRecord]:
    by_model = (statements.AWAITED_EMBEDDINGS, statements.UNEMBEDDED)
    return _newest_waiting(connection, by_model, limit, leave_out, damaged)


def list_without_passages(
    connection: apsw.Connection, damaged: DamagedRows, limit: int, *, leave_out: Collection[Namespace] = ()
) -> list[MemoryRecord]:
    by_model = (statements.WITHOUT_MODEL_PASSAGES, statements.WITHOUT_PASSAGES)
    return _newest_waiting(connection, by_model, limit, leave_out, damaged)


def _newest_waiting(
    connection: apsw.Connection,
    by_model: tuple[str, str],
    limit: int,
    leave_out: Collection[Namespace],
    damaged: DamagedRows,
) -> list[MemoryRecord]:
    """``by_model``: what waits for a vector of any other model, and what waits for one of the bundled model."""
    of_others, of_bundled = by_model
    values: rows.Values = {"leave_out": json.dumps(list(leave_out))}
    found = list(islice(damaged.only_readable(connection.execute(of_others, values), rows.to_record), limit))
    if connection.execute(statements.BUNDLED_MODEL_SERVES).get:  # else the second may list all records
        waiting = connection.execute(of_bundled, values)
        found += islice(damaged.only_readable(waiting, rows.to_record), limit)
    return newest_first(found)[:limit]


def get_passages(
    connection: apsw.Connection, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
) -> dict[RecordId, Codes]:
    values: rows.Values = {"record_ids": json.dumps(list(record_ids)), "digest": model.digest}
    found = connection.execute(statements.PASSAGES, values)
    codes_of = (
        (record_id, vectors.codes_from_blob(blob, model.dimension)) for record_id, blob in found if blob is not None
    )
    return {record_id: codes for record_id, codes in codes_of if codes is not None}


def list_behind(connection: apsw.Connection, damaged: DamagedRows, limit: int) -> list[MemoryRecord]:
    model, *_ = connection.execute(statements.CURRENT_MODEL).get
    found = connection.execute(statements.BEHIND, {"model": model})
    return list(islice(damaged.only_readable(found, rows.to_record), limit))


def count_reembedded(connection: apsw.Connection) -> ReembeddingCounts:
    model, *_ = connection.execute(statements.CURRENT_MODEL).get
    return ReembeddingCounts(*connection.execute(statements.COUNT_REEMBEDDED, {"model": model}).get)


def list_embeddings(connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace) -> EmbeddingTable:
    number, model = _serving_model(connection, namespace)
    statement = statements.EMBEDDINGS if number == BUNDLED else statements.MODEL_EMBEDDINGS
    whole = []
    for record_id, created_at, blob in decodable(connection.execute(statement, {"namespace": namespace})):
        moment = rows.to_moment(created_at)
        if vectors.is_damaged(blob, model.dimension) or moment is None:
            log.warning("storage.vector_damaged", record_id=record_id, size_bytes=len(blob))
            damaged.note(record_id)
        else:
            whole.append((record_id, moment, blob))
    record_ids, created_ats, blobs = zip(*whole, strict=True) if whole else ((), (), ())
    row_counts = tuple(vectors.row_count(blob, model.dimension) for blob in blobs)
    return EmbeddingTable(record_ids, created_ats, row_counts, vectors.matrix_of(blobs, model.dimension), model)


def _serving_model(connection: apsw.Connection, namespace: Namespace) -> tuple[int, ModelIdentity]:
    found = connection.execute(statements.SERVING_MODEL, {"namespace": namespace}).fetchone()
    if found is None:  # it will have the current one
        found = connection.execute(statements.CURRENT_MODEL).get[:4]
    number, digest, name, dimension = found
    return number, ModelIdentity(name, digest, dimension)


def count_embeddings(connection: apsw.Connection, namespace: Namespace | None) -> EmbeddingCounts:
    if namespace is None:
        return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_ALL).get)
    values = {"namespace": namespace}
    return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_NAMESPACE, values).get)
