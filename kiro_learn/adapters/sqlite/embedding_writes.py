"""Which model's vectors serve a project, and vectors themselves, whosever they are.

Every function answers with the changes that it made to what is searched, in order.
"""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite import rows, statements, vectors
from kiro_learn.model.ids import RecordId
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import Codes, KnownModel, ModelIdentity, Parts
from kiro_learn.ports.storage.answers import Change, ModelSwitched, RecordEmbedded

BUNDLED = 1
"""The number of the model whose vectors stand in memory_records."""


def adopt_model(connection: apsw.Connection, model: KnownModel) -> list[Change]:
    identity = model.identity
    values: rows.Values = {
        "digest": identity.digest,
        "name": identity.name,
        "dimension": identity.dimension,
        "folder": model.folder,
    }
    connection.execute(statements.SET_CURRENT_MODEL, {"model": connection.execute(statements.PUT_MODEL, values).get})
    changes: list[Change] = []
    behind: list[rows.Row] = connection.execute(statements.NAMESPACES_BEHIND).fetchall()
    for _, namespace, *_ in behind:
        changes += switch_model(connection, namespace)
    connection.execute(statements.DROP_UNUSED_EMBEDDINGS)
    return changes


def switch_model(connection: apsw.Connection, namespace: Namespace) -> list[Change]:
    """Switch the project to the current model, if every record has its vector, or none has one of an earlier model."""
    number = connection.execute(statements.NAMESPACE_BEHIND, {"namespace": namespace}).get
    if number is None:
        return []
    model, *row = connection.execute(statements.CURRENT_MODEL).get
    values: rows.Values = {"model": model, "number": number}
    if connection.execute(statements.IS_BEHIND, values).get:
        if connection.execute(statements.IS_SERVED, {"number": number}).get:
            return []
        if model != BUNDLED:
            connection.execute(statements.AWAIT_EMBEDDINGS, values)
    connection.execute(statements.SET_SERVING_MODEL, values)
    return [ModelSwitched(namespace, rows.to_known_model(row).identity)]


def put_embedding(
    connection: apsw.Connection, record_id: RecordId, embedding: Parts, model: ModelIdentity
) -> list[Change]:
    blob = vectors.to_blob(record_id, embedding, model.dimension)
    asked: rows.Values = {"record_id": record_id, "digest": model.digest}
    found = connection.execute(statements.EMBEDDED_RECORD, asked).fetchone()
    if found is None:
        return []
    number, namespace, created_at, model_number, is_serving = found
    values: rows.Values = {"number": number, "embedding": blob}
    if model_number == BUNDLED:
        connection.execute(statements.PUT_EMBEDDING, values)
    else:
        connection.execute(statements.PUT_MODEL_EMBEDDING, values | {"model": model_number})
    if not is_serving:
        return []
    parts = vectors.from_blob(record_id, blob, model.dimension)
    return [RecordEmbedded(namespace, record_id, from_text(created_at.decode()), parts, model)]


def set_aside(connection: apsw.Connection, record_id: RecordId, reason: str, model: ModelIdentity) -> None:
    asked: rows.Values = {"record_id": record_id, "digest": model.digest}
    found = connection.execute(statements.EMBEDDED_RECORD, asked).fetchone()
    if found is None:
        return
    values: rows.Values = {"number": found[0], "reason": reason}
    if found[3] == BUNDLED:
        connection.execute(statements.SET_ASIDE, values)
    else:
        connection.execute(statements.SET_MODEL_EMBEDDING_ASIDE, values | {"model": found[3]})


def put_passages(connection: apsw.Connection, record_id: RecordId, codes: Codes, model: ModelIdentity) -> None:
    asked: rows.Values = {"record_id": record_id, "digest": model.digest}
    found = connection.execute(statements.EMBEDDED_RECORD, asked).fetchone()
    if found is None:
        return
    values: rows.Values = {"number": found[0], "codes": vectors.codes_to_blob(codes)}
    if found[3] == BUNDLED:
        connection.execute(statements.PUT_PASSAGES, values)
    else:
        connection.execute(statements.PUT_MODEL_PASSAGES, values | {"model": found[3]})


def embedding_put_back(connection: apsw.Connection, number: int, record: MemoryRecord) -> list[Change]:
    """Make a restored record searchable again by its vectors of the model that now serves its project."""
    digest, name, dimension, blob = connection.execute(statements.SERVING_EMBEDDING, {"number": number}).get
    if blob is None or vectors.is_damaged(blob, dimension):
        return []
    parts = vectors.from_blob(record.record_id, blob, dimension)
    model = ModelIdentity(name, digest, dimension)
    return [RecordEmbedded(record.namespace, record.record_id, record.created_at, parts, model)]
