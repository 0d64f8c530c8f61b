from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kiro_learn.errors import DimensionMismatch, DuplicateRecord, StorageUnavailable, UnknownRecord
from kiro_learn.model.buffer import LearningRun
from kiro_learn.ports.storage.answers import Committed, RecordEmbedded, RecordRemoved, RecordStored, Refused
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import delete_records, put_event, put_record, transact_one
from tests.unit.storage.builders import MINE, at, event, event_id, parts, record, record_id
from tests.unit.storage.contract import promise


@promise
async def each_work_answers_with_its_value_and_its_changes(storage: StorageBackend) -> None:
    outcomes = await storage.transact(
        [
            lambda tx: tx.put_event(event(1), size_bytes=9, buffered=True),
            lambda tx: tx.put_memory_record(record(1)),
            lambda tx: tx.delete_memory_record([record_id(1), record_id(2)]),
        ]
    )
    assert outcomes == [
        Committed(9, ()),
        Committed(None, (RecordStored(MINE, record_id(1)),)),
        Committed(1, (RecordRemoved(MINE, record_id(1)),)),
    ]


@promise
async def a_refused_work_is_undone_alone(storage: StorageBackend) -> None:
    def refused(tx: StorageTransaction) -> None:
        tx.put_event(event(2), size_bytes=1, buffered=True)
        tx.put_memory_record(record(2))
        tx.put_run(_run())
        raise UnknownRecord("mr_x")

    first, second, third = await storage.transact(
        [lambda tx: tx.put_memory_record(record(1)), refused, lambda tx: tx.put_memory_record(record(3))]
    )
    assert isinstance(first, Committed)
    assert isinstance(second, Refused)
    assert isinstance(second.error, UnknownRecord)
    assert isinstance(third, Committed)
    kept = await storage.list_memory_records(namespace=MINE, limit=9, offset=0)
    assert [item.record_id for item in kept.items] == [record_id(3), record_id(1)]
    assert await storage.get_event_by_id(event_id(2)) is None
    assert await storage.list_buffers() == {}
    assert await storage.list_runs(9) == []


@promise
async def a_namespace_whose_first_record_was_undone_takes_its_next(storage: StorageBackend) -> None:
    def refused(tx: StorageTransaction) -> None:
        tx.put_memory_record(record(1, "undone"))
        raise UnknownRecord("mr_x")

    await storage.transact([refused, lambda tx: tx.put_memory_record(record(2, "kept"))])
    found = await storage.get_memory_records([record_id(1), record_id(2)])
    assert [item.title for item in found] == ["kept"]


@promise
async def with_transaction_returns_the_value_or_raises_the_refusal(storage: StorageBackend) -> None:
    assert await transact_one(storage, lambda tx: tx.delete_memory_record([])) == 0
    await put_record(storage, record(1))
    with pytest.raises(DuplicateRecord):
        await transact_one(storage, lambda tx: tx.put_memory_record(record(1)))


@promise
async def nothing_to_do_is_done(storage: StorageBackend) -> None:
    assert await storage.transact([]) == []


@promise
async def a_duplicate_is_refused_and_the_first_stays(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "first"))
    with pytest.raises(DuplicateRecord):
        await put_record(storage, record(1, "second"))
    (kept,) = await storage.get_memory_records([record_id(1)])
    assert kept.title == "first"


@promise
async def a_work_may_catch_a_duplicate_and_go_on(storage: StorageBackend) -> None:
    def import_both(tx: StorageTransaction) -> str:
        tx.put_memory_record(record(1, "first"))
        try:
            tx.put_memory_record(record(1, "second"))
        except DuplicateRecord:
            tx.put_memory_record(record(2, "third"))
        return "imported"

    assert await transact_one(storage, import_both) == "imported"
    assert (await storage.count_embeddings(MINE)).total == 2


@promise
async def deleting_is_idempotent_and_says_how_many_there_were(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
    assert await delete_records(storage, [record_id(1), record_id(1), record_id(7)]) == 1
    assert await delete_records(storage, [record_id(1)]) == 0
    assert (await storage.list_embeddings(MINE)).record_ids == ()


@promise
async def a_deleted_id_may_be_put_again_without_its_old_vector(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
    await delete_records(storage, [record_id(1)])
    await put_record(storage, record(1, "again"))
    assert await storage.list_unembedded(9) == [record(1, "again")]


@promise
async def a_vector_tells_of_itself_and_an_unknown_record_stays_unknown(storage: StorageBackend) -> None:
    await put_record(storage, record(1))

    def embed(tx: StorageTransaction) -> None:
        tx.put_embedding(record_id(1), parts(1, 2))
        tx.put_embedding(record_id(2), parts(2))

    (outcome,) = await storage.transact([embed])
    assert isinstance(outcome, Committed)
    (change,) = outcome.changes
    assert isinstance(change, RecordEmbedded)
    assert (change.namespace, change.record_id, change.created_at) == (MINE, record_id(1), at(1))
    assert change.parts.tobytes() == parts(1, 2).tobytes()


@promise
async def a_vector_of_another_length_is_refused_by_name(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    with pytest.raises(DimensionMismatch, match=record_id(1)):
        await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), np.ones((1, 3), np.float32)))
    with pytest.raises(DimensionMismatch, match=record_id(1)):
        await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), np.ones((0, 384), np.float32)))
    assert (await storage.count_embeddings(MINE)).embedded == 0


@promise
async def after_close_everything_is_unavailable_and_closing_again_is_nothing(storage: StorageBackend) -> None:
    await storage.close()
    await storage.close()
    with pytest.raises(StorageUnavailable):
        await storage.list_runs(1)
    with pytest.raises(StorageUnavailable):
        await put_event(storage, event(1))


@promise
async def a_hook_session_is_the_last_one_told(storage: StorageBackend) -> None:
    assert await storage.get_hook_session("key") is None
    await transact_one(storage, lambda tx: tx.put_hook_session("key", "one"))
    await transact_one(storage, lambda tx: tx.put_hook_session("key", "two"))
    assert await storage.get_hook_session("key") == "two"


@promise
async def runs_are_listed_newest_first_and_replaced_by_id(storage: StorageBackend) -> None:
    runs = [_run(run_id=f"run {minute}", started_at=at(minute)) for minute in (1, 3, 2)]
    for run in (*runs, _run(run_id="run 2", started_at=at(2), problem="no answer")):
        await transact_one(storage, lambda tx, run=run: tx.put_run(run))  # type: ignore[misc]  # mypy cannot infer it
    listed = await storage.list_runs(2)
    assert [(run.run_id, run.problem) for run in listed] == [("run 3", None), ("run 2", "no answer")]


def _run(**values: Any) -> LearningRun:
    defaults: dict[str, Any] = {
        "run_id": "run",
        "namespace": MINE,
        "strategy": "test",
        "started_at": at(0),
        "finished_at": at(1),
        "event_count": 2,
        "record_count": 1,
        "problem": None,
    }
    return LearningRun(**defaults | values)
