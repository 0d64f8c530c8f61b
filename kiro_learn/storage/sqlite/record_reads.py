"""Queries about records and their vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import structlog

from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.ids import RecordId
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.storage.interface import EmbeddingTable, RecordPage, SearchParams
from kiro_learn.storage.sqlite import statements, vectors
from kiro_learn.storage.sqlite.rows import to_backdrop, to_record
from kiro_learn.storage.sqlite.search import rank_by_words
from kiro_learn.storage.sqlite.word_indexes import WordIndexes

log = structlog.get_logger()


def get_memory_records(connection: apsw.Connection, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
    found = connection.execute(statements.GET_RECORDS, {"record_ids": json.dumps(list(record_ids))})
    row_of = {row[1]: row for row in found}
    return [to_record(row_of[record_id]) for record_id in record_ids if record_id in row_of]


def get_backdrops(connection: apsw.Connection, record_ids: Sequence[RecordId]) -> dict[RecordId, Backdrop]:
    found = connection.execute(statements.BACKDROPS, {"record_ids": json.dumps(list(record_ids))})
    return {row[0]: to_backdrop(row) for row in found}


def search_memory_records(
    connection: apsw.Connection, params: SearchParams, indexes: WordIndexes
) -> list[MemoryRecord]:
    return get_memory_records(connection, [hit.record_id for hit in rank_by_words(connection, params, indexes).hits])


def list_memory_records(
    connection: apsw.Connection, *, namespace: Namespace | None, limit: int, offset: int
) -> RecordPage:
    page = {"limit": limit, "offset": offset}
    if namespace is None:
        found = connection.execute(statements.RECORDS_OF_ALL, page)
        total = connection.execute(statements.COUNT_RECORDS_OF_ALL).get
    else:
        found = connection.execute(statements.RECORDS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(statements.COUNT_RECORDS_OF_NAMESPACE, {"namespace": namespace}).get
    return RecordPage(tuple(map(to_record, found)), total)


def list_unembedded(connection: apsw.Connection, limit: int) -> list[MemoryRecord]:
    return [to_record(row) for row in connection.execute(statements.UNEMBEDDED, {"limit": limit})]


def list_embeddings(connection: apsw.Connection, namespace: Namespace) -> EmbeddingTable:
    whole = []
    for record_id, created_at, blob in connection.execute(statements.EMBEDDINGS, {"namespace": namespace}):
        if vectors.is_damaged(blob):
            log.warning("storage.vector_damaged", record_id=record_id, size_bytes=len(blob))
        else:
            whole.append((record_id, from_text(created_at), blob))
    record_ids, created_ats, blobs = zip(*whole, strict=True) if whole else ((), (), ())
    row_counts = tuple(len(blob) // vectors.VECTOR_BYTES for blob in blobs)
    return EmbeddingTable(record_ids, created_ats, row_counts, vectors.matrix_of(blobs))


def count_embeddings(connection: apsw.Connection, namespace: Namespace | None) -> EmbeddingCounts:
    if namespace is None:
        return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_ALL).get)
    values = {"namespace": namespace}
    return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_NAMESPACE, values).get)
