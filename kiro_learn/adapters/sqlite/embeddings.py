"""Vectors and the models that made them: queries about them, and steps that change them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

import apsw
import numpy as np
import structlog

from kiro_learn.adapters.sqlite import index_statements, rows
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, decodable
from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.ids import RecordId, from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.model.vectors import (
    BUNDLED_MODEL,
    DIMENSION,
    Codes,
    KnownModel,
    Matrix,
    ModelIdentity,
    ModelsInUse,
    Parts,
    ReembeddingCounts,
    are_parts,
)
from kiro_learn.ports.storage.answers import Change, EmbeddingTable, ModelSwitched, RecordEmbedded

log = structlog.get_logger()


def get_models(connection: apsw.Connection) -> ModelsInUse:
    _, *current = connection.execute(index_statements.CURRENT_MODEL).get
    behind = connection.execute(index_statements.NAMESPACES_BEHIND)
    return ModelsInUse(
        rows.to_known_model(current), {namespace: rows.to_known_model(model) for _, namespace, *model in behind}
    )


def list_unembedded(
    connection: apsw.Connection, damaged: DamagedRows, limit: int, *, leave_out: Collection[Namespace] = ()
) -> list[MemoryRecord]:
    by_model = (index_statements.AWAITED_EMBEDDINGS, index_statements.UNEMBEDDED)
    return _newest_waiting(connection, by_model, limit, leave_out, damaged)


def list_without_passages(
    connection: apsw.Connection, damaged: DamagedRows, limit: int, *, leave_out: Collection[Namespace] = ()
) -> list[MemoryRecord]:
    by_model = (index_statements.WITHOUT_MODEL_PASSAGES, index_statements.WITHOUT_PASSAGES)
    return _newest_waiting(connection, by_model, limit, leave_out, damaged)


def _newest_waiting(
    connection: apsw.Connection,
    by_model: tuple[str, str],
    limit: int,
    leave_out: Collection[Namespace],
    damaged: DamagedRows,
) -> list[MemoryRecord]:
    """``by_model``: statements for the records that wait for vectors, of other models and of the bundled one."""
    of_others, of_bundled = by_model
    values: rows.Values = {"leave_out": json.dumps(list(leave_out))}
    found = list(islice(damaged.only_readable(connection.execute(of_others, values), rows.to_record), limit))
    if connection.execute(index_statements.BUNDLED_MODEL_SERVES).get:  # else this may list all records
        waiting = connection.execute(of_bundled, values)
        found += islice(damaged.only_readable(waiting, rows.to_record), limit)
    return newest_first(found)[:limit]


def get_passages(
    connection: apsw.Connection, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
) -> dict[RecordId, Codes]:
    values: rows.Values = {"record_ids": json.dumps(list(record_ids)), "digest": model.digest}
    found = connection.execute(index_statements.PASSAGES, values)
    codes_of = ((record_id, codes_from_blob(blob, model.dimension)) for record_id, blob in found if blob is not None)
    return {record_id: codes for record_id, codes in codes_of if codes is not None}


def list_behind(connection: apsw.Connection, damaged: DamagedRows, limit: int) -> list[MemoryRecord]:
    model, *_ = connection.execute(index_statements.CURRENT_MODEL).get
    found = connection.execute(index_statements.BEHIND, {"model": model})
    return list(islice(damaged.only_readable(found, rows.to_record), limit))


def count_reembedded(connection: apsw.Connection) -> ReembeddingCounts:
    model, *_ = connection.execute(index_statements.CURRENT_MODEL).get
    return ReembeddingCounts(*connection.execute(index_statements.COUNT_REEMBEDDED, {"model": model}).get)


def list_embeddings(connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace) -> EmbeddingTable:
    number, model = _serving_model(connection, namespace)
    statement = index_statements.EMBEDDINGS if number == BUNDLED else index_statements.MODEL_EMBEDDINGS
    whole = []
    for record_id, created_at, blob in decodable(connection.execute(statement, {"namespace": namespace})):
        moment = rows.to_moment(created_at)
        if is_damaged(blob, model.dimension) or moment is None:
            log.warning("storage.vector_damaged", record_id=record_id, size_bytes=len(blob))
            damaged.note(record_id)
        else:
            whole.append((record_id, moment, blob))
    record_ids, created_ats, blobs = zip(*whole, strict=True) if whole else ((), (), ())
    row_counts = tuple(row_count(blob, model.dimension) for blob in blobs)
    return EmbeddingTable(record_ids, created_ats, row_counts, matrix_of(blobs, model.dimension), model)


def _serving_model(connection: apsw.Connection, namespace: Namespace) -> tuple[int, ModelIdentity]:
    found = connection.execute(index_statements.SERVING_MODEL, {"namespace": namespace}).fetchone()
    if found is None:  # a new project gets the current model
        found = connection.execute(index_statements.CURRENT_MODEL).get[:4]
    number, digest, name, dimension = found
    return number, ModelIdentity(name, digest, dimension)


def count_embeddings(connection: apsw.Connection, namespace: Namespace | None) -> EmbeddingCounts:
    if namespace is None:
        return EmbeddingCounts(*connection.execute(index_statements.COUNT_EMBEDDINGS_OF_ALL).get)
    values = {"namespace": namespace}
    return EmbeddingCounts(*connection.execute(index_statements.COUNT_EMBEDDINGS_OF_NAMESPACE, values).get)


# Sets the model that serves a project, and stores vectors of any model.
#
# Functions that change what is searched return the changes, in order.

BUNDLED = 1
"""The number of the bundled model, whose vectors are in memory_records."""


def adopt_model(connection: apsw.Connection, model: KnownModel) -> list[Change]:
    identity = model.identity
    values: rows.Values = {
        "digest": identity.digest,
        "name": identity.name,
        "dimension": identity.dimension,
        "folder": model.folder,
    }
    connection.execute(
        index_statements.SET_CURRENT_MODEL, {"model": connection.execute(index_statements.PUT_MODEL, values).get}
    )
    changes: list[Change] = []
    behind: list[Row] = connection.execute(index_statements.NAMESPACES_BEHIND).fetchall()
    for _, namespace, *_ in behind:
        changes += switch_model(connection, namespace)
    connection.execute(index_statements.DROP_UNUSED_EMBEDDINGS)
    return changes


def switch_model(connection: apsw.Connection, namespace: Namespace) -> list[Change]:
    """Switch the project to the current model, if all its records have that model's vectors, or none has any."""
    number = connection.execute(index_statements.NAMESPACE_BEHIND, {"namespace": namespace}).get
    if number is None:
        return []
    model, *row = connection.execute(index_statements.CURRENT_MODEL).get
    values: rows.Values = {"model": model, "number": number}
    if connection.execute(index_statements.IS_BEHIND, values).get:
        if connection.execute(index_statements.IS_SERVED, {"number": number}).get:
            return []
        if model != BUNDLED:
            connection.execute(index_statements.AWAIT_EMBEDDINGS, values)
    connection.execute(index_statements.SET_SERVING_MODEL, values)
    return [ModelSwitched(namespace, rows.to_known_model(row).identity)]


def _embedded_record(connection: apsw.Connection, record_id: RecordId, model: ModelIdentity) -> Row | None:
    """A row of ``EMBEDDED_RECORD``; None if the record keeps no vectors of this model."""
    asked: rows.Values = {"record_id": record_id, "digest": model.digest}
    found: Row | None = connection.execute(index_statements.EMBEDDED_RECORD, asked).fetchone()
    return found


def put_embedding(
    connection: apsw.Connection, record_id: RecordId, embedding: Parts, model: ModelIdentity = BUNDLED_MODEL
) -> list[Change]:
    blob = to_blob(record_id, embedding, model.dimension)
    found = _embedded_record(connection, record_id, model)
    if found is None:
        return []
    number, namespace, created_at, model_number, is_serving = found
    statement = index_statements.PUT_EMBEDDING if model_number == BUNDLED else index_statements.PUT_MODEL_EMBEDDING
    connection.execute(statement, {"number": number, "model": model_number, "embedding": blob})
    if not is_serving:
        return []
    parts = from_blob(record_id, blob, model.dimension)
    return [RecordEmbedded(namespace, record_id, from_text(created_at.decode()), parts, model)]


def set_aside(
    connection: apsw.Connection, record_id: RecordId, reason: str, model: ModelIdentity = BUNDLED_MODEL
) -> None:
    found = _embedded_record(connection, record_id, model)
    if found is not None:
        statement = index_statements.SET_ASIDE if found[3] == BUNDLED else index_statements.SET_MODEL_EMBEDDING_ASIDE
        connection.execute(statement, {"number": found[0], "model": found[3], "reason": reason})


def put_passages(
    connection: apsw.Connection, record_id: RecordId, codes: Codes, model: ModelIdentity = BUNDLED_MODEL
) -> None:
    found = _embedded_record(connection, record_id, model)
    if found is not None:
        statement = index_statements.PUT_PASSAGES if found[3] == BUNDLED else index_statements.PUT_MODEL_PASSAGES
        connection.execute(statement, {"number": found[0], "model": found[3], "codes": codes_to_blob(codes)})


def embedding_put_back(connection: apsw.Connection, number: int, record: MemoryRecord) -> list[Change]:
    """Make a restored record searchable again by its vectors of the model that now serves its project."""
    digest, name, dimension, blob = connection.execute(index_statements.SERVING_EMBEDDING, {"number": number}).get
    if blob is None or is_damaged(blob, dimension):
        return []
    parts = from_blob(record.record_id, blob, dimension)
    model = ModelIdentity(name, digest, dimension)
    return [RecordEmbedded(record.namespace, record.record_id, record.created_at, parts, model)]


# A record's vectors as bytes: ``dimension`` little-endian float32 each, one after the other, without a header.
#
# Every bit pattern survives, NaNs included. A vector of the bundled model has 384 components, 1,536 bytes.

FLOAT = np.dtype("<f4")
FLOAT_BYTES = FLOAT.itemsize  # kept, since the attribute of NumPy is slow
DIMENSION_BYTES = 2


def to_blob(record_id: RecordId, parts: Parts, dimension: int = DIMENSION) -> bytes:
    """Raises: DimensionMismatch: ``parts`` is not (n, dimension) with n at least 1."""
    if not are_parts(parts, dimension):
        raise DimensionMismatch(record_id=record_id, wanted=dimension, found=parts.size)
    return parts.astype(FLOAT, copy=False).tobytes()


def from_blob(record_id: RecordId, blob: bytes, dimension: int = DIMENSION) -> Parts:
    """Raises: DimensionMismatch: ``blob`` is damaged."""
    if is_damaged(blob, dimension):
        raise DimensionMismatch(record_id=record_id, wanted=dimension, found=len(blob) // FLOAT_BYTES)
    return matrix_of([blob], dimension)


def is_damaged(blob: bytes, dimension: int = DIMENSION) -> bool:
    """Whether ``blob`` is not one or more whole vectors."""
    return not blob or len(blob) % (dimension * FLOAT_BYTES) != 0


def row_count(blob: bytes, dimension: int = DIMENSION) -> int:
    """The number of vectors in a blob that is not damaged."""
    return len(blob) // (dimension * FLOAT_BYTES)


def matrix_of(blobs: Iterable[bytes], dimension: int = DIMENSION) -> Matrix:
    """(n, dimension) float32, the rows of all ``blobs``, none of which is damaged."""
    return np.frombuffer(b"".join(blobs), FLOAT).astype(np.float32, copy=False).reshape(-1, dimension)


def codes_to_blob(codes: Codes) -> bytes:
    """The dimension of the vectors in two bytes, then the codes."""
    dimension = int(codes.shape[1])
    return dimension.to_bytes(DIMENSION_BYTES, "little") + codes.tobytes()


def codes_from_blob(blob: bytes, dimension: int = DIMENSION) -> Codes | None:
    """The codes in ``blob``; None if it is damaged."""
    found = int.from_bytes(blob[:DIMENSION_BYTES], "little")
    codes = np.frombuffer(blob[DIMENSION_BYTES:], np.int8)
    return codes.reshape(-1, dimension) if found == dimension and len(codes) % dimension == 0 else None
