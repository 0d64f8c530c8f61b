"""Queries about records."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable, parted
from kiro_learn.adapters.sqlite.rows import Values, to_features, to_record
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import RankingFeatures
from kiro_learn.ports.storage.answers import RecordPage


def get_memory_records(
    connection: apsw.Connection, damaged: DamagedRows, record_ids: Sequence[RecordId]
) -> list[MemoryRecord]:
    found = connection.execute(statements.GET_RECORDS, {"record_ids": json.dumps(list(record_ids))})
    record_of = {record.record_id: record for record in damaged.only_readable(found, to_record)}
    return [record_of[record_id] for record_id in record_ids if record_id in record_of]


def get_ranking_features(
    connection: apsw.Connection, record_ids: Sequence[RecordId], damaged: DamagedRows
) -> dict[RecordId, RankingFeatures]:
    found = connection.execute(statements.RANKING_FEATURES, {"record_ids": json.dumps(list(record_ids))})
    return dict(damaged.only_readable(decodable(found), to_features))


def find_record_ids(connection: apsw.Connection, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
    asked: Values = {"namespace": namespace, "ending": ending, "limit": limit}
    return [RecordId(record_id) for (record_id,) in connection.execute(statements.RECORD_IDS_ENDING, asked)]


def list_memory_records(
    connection: apsw.Connection, damaged: DamagedRows, *, namespace: Namespace | None, limit: int, offset: int
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
