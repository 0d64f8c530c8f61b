"""A damaged row costs itself and a warning, not the answers of its project."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
import structlog
import trio

from kiro_learn.config import StorageConfig
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.storage.answers import EmbeddingTable
from kiro_learn.storage.interface import StorageTransaction
from kiro_learn.storage.sqlite.opening import open_sqlite_storage
from kiro_learn.storage.sqlite.storage import SqliteStorage
from tests.unit.storage.builders import DAWN, MINE, parts, record, record_id, vector


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(reader_count=1), utc_now=lambda: DAWN)


def embed_three(tx: StorageTransaction) -> None:
    for number in (1, 2, 3):
        tx.put_embedding(record_id(number), parts(number))


@pytest.mark.parametrize("blob", [b"", b"short", vector(2).tobytes() + b"x"])
def test_a_damaged_vector_is_one_warning_and_one_missing_hit(tmp_path: Path, blob: bytes) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> EmbeddingTable:
        storage = await open_at(path)
        for number in (1, 2, 3):
            await storage.put_memory_record(record(number))
        await storage.with_transaction(embed_three)
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE memory_records SET embedding = ? WHERE record_id = ?", (blob, record_id(2)))
        found = await storage.list_embeddings(MINE)
        await storage.close()
        return found

    with structlog.testing.capture_logs() as lines:
        table = trio.run(scenario)

    assert table.record_ids == (record_id(1), record_id(3))
    assert table.vectors.tobytes() == vector(1).tobytes() + vector(3).tobytes()
    warnings = [line for line in lines if line["log_level"] == "warning"]
    assert [(line["event"], line["record_id"]) for line in warnings] == [("storage.vector_damaged", record_id(2))]


def test_a_damaged_cluster_is_one_warning_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "test.db"

    def a_cluster(cluster_id: str) -> ParkedCluster:
        records = (record(int(cluster_id)),)
        return ParkedCluster(
            cluster_id=cluster_id, namespace=MINE, records=records, problem="p", attempt_count=1, retry_at=DAWN
        )

    async def scenario() -> tuple[list[ParkedCluster], list[ParkedCluster]]:
        storage = await open_at(path)
        for cluster in (a_cluster("1"), a_cluster("2")):
            await storage.with_transaction(lambda tx, cluster=cluster: tx.park_cluster(cluster))  # type: ignore[misc]  # mypy cannot infer it
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE parked_clusters SET records_json = '[{' WHERE cluster_id = '1'")
        found = await storage.list_parked_clusters(MINE), await storage.list_parked_clusters(None)
        await storage.close()
        return found

    with structlog.testing.capture_logs() as lines:
        of_one, of_all = trio.run(scenario)

    assert of_one == of_all == [a_cluster("2")]
    warnings = [line for line in lines if line["log_level"] == "warning"]
    assert [(line["event"], line["row_id"]) for line in warnings] == [("storage.row_damaged", "1")]
