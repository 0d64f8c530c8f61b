"""Queries about records and their vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

import apsw
import structlog

from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.storage.interface import EmbeddingTable, RecordPage, SearchParams
from kiro_learn.storage.sqlite import statements, vectors
from kiro_learn.storage.sqlite.damage import DamagedRows, decodable, parted
from kiro_learn.storage.sqlite.rows import to_backdrop, to_moment, to_record
from kiro_learn.storage.sqlite.search import rank_by_words
from kiro_learn.storage.sqlite.word_indexes import WordIndexes
from kiro_learn.vectors import Codes

log = structlog.get_logger()


def get_memory_records(
    connection: apsw.Connection, record_ids: Sequence[RecordId], damaged: DamagedRows
) -> list[MemoryRecord]:
    found = connection.execute(statements.GET_RECORDS, {"record_ids": json.dumps(list(record_ids))})
    record_of = {record.record_id: record for record in damaged.only_readable(found, to_record)}
    return [record_of[record_id] for record_id in record_ids if record_id in record_of]


def get_backdrops(
    connection: apsw.Connection, record_ids: Sequence[RecordId], damaged: DamagedRows
) -> dict[RecordId, Backdrop]:
    found = connection.execute(statements.BACKDROPS, {"record_ids": json.dumps(list(record_ids))})
    return dict(damaged.only_readable(decodable(found), to_backdrop))


def search_memory_records(
    connection: apsw.Connection, params: SearchParams, indexes: WordIndexes, damaged: DamagedRows
) -> list[MemoryRecord]:
    hits = rank_by_words(connection, params, indexes).hits
    return get_memory_records(connection, [hit.record_id for hit in hits], damaged)


def list_memory_records(
    connection: apsw.Connection, *, namespace: Namespace | None, limit: int, offset: int, damaged: DamagedRows
) -> RecordPage:
    page = {"limit": limit, "offset": offset}
    if namespace is None:
        found = connection.execute(statements.RECORDS_OF_ALL, page)
        total = connection.execute(statements.COUNT_RECORDS_OF_ALL).get
    else:
        found = connection.execute(statements.RECORDS_OF_NAMESPACE, page | {"namespace": namespace})
        total = connection.execute(statements.COUNT_RECORDS_OF_NAMESPACE, {"namespace": namespace}).get
    items, broken = parted(damaged.readable(found, to_record))
    return RecordPage(items, total, broken)


def list_unembedded(connection: apsw.Connection, limit: int, damaged: DamagedRows) -> list[MemoryRecord]:
    found = connection.execute(statements.UNEMBEDDED)
    return list(islice(damaged.only_readable(found, to_record), limit))


def list_without_passages(connection: apsw.Connection, limit: int, damaged: DamagedRows) -> list[MemoryRecord]:
    found = connection.execute(statements.WITHOUT_PASSAGES)
    return list(islice(damaged.only_readable(found, to_record), limit))


def get_passages(connection: apsw.Connection, record_ids: Sequence[RecordId]) -> dict[RecordId, Codes]:
    found = connection.execute(statements.PASSAGES, {"record_ids": json.dumps(list(record_ids))})
    codes_of = ((record_id, vectors.codes_from_blob(blob)) for record_id, blob in found)
    return {record_id: codes for record_id, codes in codes_of if codes is not None}


def list_embeddings(connection: apsw.Connection, namespace: Namespace, damaged: DamagedRows) -> EmbeddingTable:
    whole = []
    for record_id, created_at, blob in decodable(connection.execute(statements.EMBEDDINGS, {"namespace": namespace})):
        moment = to_moment(created_at)
        if vectors.is_damaged(blob) or moment is None:
            log.warning("storage.vector_damaged", record_id=record_id, size_bytes=len(blob))
            damaged.note(record_id)
        else:
            whole.append((record_id, moment, blob))
    record_ids, created_ats, blobs = zip(*whole, strict=True) if whole else ((), (), ())
    row_counts = tuple(len(blob) // vectors.VECTOR_BYTES for blob in blobs)
    return EmbeddingTable(record_ids, created_ats, row_counts, vectors.matrix_of(blobs))


def count_embeddings(connection: apsw.Connection, namespace: Namespace | None) -> EmbeddingCounts:
    if namespace is None:
        return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_ALL).get)
    values = {"namespace": namespace}
    return EmbeddingCounts(*connection.execute(statements.COUNT_EMBEDDINGS_OF_NAMESPACE, values).get)
