"""A damaged row is lost with a warning; its project is still answered."""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest
import structlog
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.vectors import KnownModel, ModelIdentity, to_codes
from kiro_learn.ports.storage.answers import EmbeddingTable
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.testing.storage import put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, at, event, event_id, parts, record, record_id, vector


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
            await put_record(storage, record(number))
        await transact_one(storage, embed_three)
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
            await transact_one(storage, lambda tx, cluster=cluster: tx.park_cluster(cluster))  # type: ignore[misc]  # mypy cannot infer it
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


OTHER = ModelIdentity("other", "b" * 64, 3)
CODES = to_codes(parts(1))


@pytest.mark.parametrize("column", ["summary", "created_at"])
def test_a_damaged_memory_is_not_listed_for_another_model_and_can_be_set_aside(tmp_path: Path, column: str) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> None:
        storage = await open_at(path)
        for number in (1, 2, 3):
            await put_record(storage, record(number))
        await transact_one(storage, embed_three)
        await transact_one(storage, lambda tx: tx.adopt_model(KnownModel(OTHER, "models/other")))
        with apsw.Connection(str(path)) as connection:
            connection.execute(
                f"UPDATE memory_records SET {column} = CAST(x'ff' AS TEXT) WHERE record_id = ?",  # noqa: S608  # a name of ours
                (record_id(2),),
            )
        assert {each.record_id for each in await storage.list_behind(9)} == {record_id(1), record_id(3)}
        assert await storage.list_damaged() == (record_id(2),)
        assert {each.record_id for each in await storage.list_without_passages(9)} == {record_id(1), record_id(3)}
        await transact_one(storage, embed_by_other)
        assert not (await storage.get_models()).earlier
        assert {each.record_id for each in await storage.list_without_passages(9)} == {record_id(1), record_id(3)}
        await storage.close()

    trio.run(scenario)


def embed_by_other(tx: StorageTransaction) -> None:
    for number in (1, 3):
        tx.put_embedding(record_id(number), np.ones((1, 3), np.float32), OTHER)
    tx.set_embedding_aside(record_id(2), "its row cannot be read", OTHER)
    tx.switch_model(MINE)


@pytest.mark.parametrize("blob", [b"", b"\x80", b"\x80\x01" + bytes(385), b"\x03\x00" + bytes(384)])
def test_damaged_vectors_of_passages_are_none(tmp_path: Path, blob: bytes) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> None:
        storage = await open_at(path)
        for number in (1, 2):
            await put_record(storage, record(number))
            await transact_one(storage, lambda tx, number=number: tx.put_passages(record_id(number), CODES))  # type: ignore[misc]  # mypy cannot infer it
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE memory_records SET passage_codes = ? WHERE record_id = ?", (blob, record_id(2)))
        found = await storage.get_passages([record_id(1), record_id(2)])
        assert {each: codes.tolist() for each, codes in found.items()} == {record_id(1): CODES.tolist()}
        await storage.close()

    trio.run(scenario)


def test_damaged_rows_keep_nothing_else_from_going_by_age(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    age = EventAge(namespace=MINE, before=at(60), important_before=at(60))
    record_age = RecordAge(namespace=MINE, before=at(60), notable_before=at(60))

    async def scenario() -> None:
        storage = await open_at(path)
        for number in (1, 2, 3):
            await put_event(storage, event(number))
            await put_record(storage, record(number))
        await put_event(storage, event(0))
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE events SET event_id = CAST(X'ff' AS TEXT) WHERE event_id = ?", (event_id(0),))
            connection.execute("UPDATE memory_records SET title = CAST(X'ff' AS TEXT) WHERE number % 4294967296 < 3")
        assert await storage.list_expirable(age, limit=9) == [event_id(number) for number in (1, 2, 3)]
        found = await storage.list_distillable(record_age, after=None, limit=1)
        assert [each.record_id for each in found] == [record_id(3)]
        await storage.close()

    trio.run(scenario)


def test_a_replaced_record_without_a_readable_id_keeps_no_other_from_going(tmp_path: Path) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> None:
        storage = await open_at(path)
        for number in (1, 2, 3):
            await put_record(storage, record(number))
        replacement = Replacement(
            replacement_id="r",
            namespace=MINE,
            reason=ReplacementReason.MERGED,
            replaced_at=DAWN,
            replacing=(record_id(3),),
            replaced=(record(1), record(2)),
        )
        await transact_one(storage, lambda tx: tx.replace_memory_records(replacement))
        with apsw.Connection(str(path)) as connection:
            connection.execute(
                "UPDATE replaced_records SET record_id = CAST(X'ff' AS TEXT) WHERE record_id = ?", (record_id(1),)
            )
        assert (await storage.count_replaced(MINE, before=at(9))).count == 1
        assert (await transact_one(storage, lambda tx: tx.delete_replaced(MINE, before=at(9), limit=9))).count == 1
        await storage.close()

    trio.run(scenario)
