from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import attrs
import pytest

from kiro_learn.errors import UnexpectedError, UnknownRecord
from kiro_learn.model.buffer import BufferSize, ParkedCluster
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retention import Selection
from kiro_learn.model.statistics import LlmUsage
from kiro_learn.ports.storage.answers import Committed, RecordStored, Refused
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, event, event_id, parts, record, record_id
from tests.unit.storage.contract import promise


@promise
async def an_attempt_that_fails_is_undone_alone_and_told_of_by_nothing(storage: StorageBackend) -> None:
    def failing(tx: StorageTransaction) -> None:
        tx.put_memory_record(record(2, "undone"))
        tx.put_embedding(record_id(2), parts(2))
        tx.put_event(event(2), size_bytes=1, buffered=True)
        raise UnknownRecord("mr_x")

    def work(tx: StorageTransaction) -> str:
        tx.put_memory_record(record(1))
        with pytest.raises(UnknownRecord):
            tx.attempt(failing)
        tx.put_memory_record(record(3))
        return "done"

    assert await storage.transact([work]) == [
        Committed("done", (RecordStored(MINE, record_id(1)), RecordStored(MINE, record_id(3))))
    ]
    kept = await storage.list_memory_records(namespace=MINE, limit=9, offset=0)
    assert [item.record_id for item in kept.items] == [record_id(3), record_id(1)]
    assert await storage.get_event_by_id(event_id(2)) is None


@promise
async def an_attempt_that_succeeds_answers_and_is_part_of_its_work(storage: StorageBackend) -> None:
    def work(tx: StorageTransaction) -> bool:
        return tx.attempt(lambda inner: bool(inner.put_event(event(1), size_bytes=1, buffered=False)))

    assert await transact_one(storage, work) is True

    def refused(tx: StorageTransaction) -> None:
        tx.attempt(lambda inner: inner.put_memory_record(record(1)))
        raise UnknownRecord("mr_x")

    with pytest.raises(UnknownRecord):
        await transact_one(storage, refused)
    assert await storage.get_memory_records([record_id(1)]) == []


@promise
async def an_attempt_within_an_attempt_is_undone_first(storage: StorageBackend) -> None:
    def inner(tx: StorageTransaction) -> None:
        tx.put_memory_record(record(1))
        raise UnknownRecord("mr_x")

    def outer(tx: StorageTransaction) -> None:
        tx.put_memory_record(record(2))
        with pytest.raises(UnknownRecord):
            tx.attempt(inner)
        tx.put_memory_record(record(3))

    (outcome,) = await storage.transact([lambda tx: tx.attempt(outer)])
    assert isinstance(outcome, Committed)
    assert outcome.changes == (RecordStored(MINE, record_id(2)), RecordStored(MINE, record_id(3)))


@promise
async def an_attempt_that_a_defect_ends_is_undone_too(storage: StorageBackend) -> None:
    def work(tx: StorageTransaction) -> None:
        with pytest.raises(UnexpectedError, match="an unexpected ZeroDivisionError"):
            tx.attempt(_crashing)

    assert await storage.transact([work]) == [Committed(None, ())]
    assert await storage.get_memory_records([record_id(1)]) == []


@promise
async def a_work_that_a_defect_ends_costs_none_that_is_committed_with_it(storage: StorageBackend) -> None:
    works = [lambda tx: tx.put_memory_record(record(2)), _crashing, lambda tx: tx.put_memory_record(record(3))]
    first, refused, last = await storage.transact(works)
    assert isinstance(first, Committed)
    assert isinstance(refused, Refused)
    assert isinstance(last, Committed)
    assert str(refused.error) == "a write was ended by an unexpected ZeroDivisionError"
    kept = await storage.list_memory_records(namespace=MINE, limit=9, offset=0)
    assert [item.record_id for item in kept.items] == [record_id(3), record_id(2)]


@promise
async def a_row_that_is_refused_costs_none_that_is_committed_with_it(storage: StorageBackend) -> None:
    works = [lambda tx: tx.put_memory_record(record(2)), lambda tx: tx.put_hook_session("key", "\ud800")]
    kept, refused = await storage.transact(works)
    assert isinstance(kept, Committed)
    assert isinstance(refused, Refused)
    assert str(refused.error) == "the store refuses a row (UnicodeEncodeError)"


def _crashing(tx: StorageTransaction) -> None:
    tx.put_memory_record(record(1))
    raise ZeroDivisionError


@promise
async def parked_clusters_come_back_as_they_were_put_oldest_first(storage: StorageBackend) -> None:
    whole = record(1, 'a "title"', facts=("ünï\n\x00",), created_at=at(1.000001), stale_at=at(3), importance=3)
    clusters = [_cluster("2", records=(whole, record(2))), _cluster("3", OTHERS), _cluster("1")]
    for cluster in clusters:
        await transact_one(storage, lambda tx, cluster=cluster: tx.park_cluster(cluster))  # type: ignore[misc]  # mypy cannot infer it
    assert await storage.list_parked_clusters(None) == [clusters[2], clusters[0], clusters[1]]
    assert await storage.list_parked_clusters(MINE) == [clusters[2], clusters[0]]
    assert await storage.get_memory_records([record_id(1)]) == []


@promise
async def a_parked_record_beyond_our_limits_is_believed(storage: StorageBackend) -> None:
    """Its records may come from the first kiro-learn, whose limits were wider."""
    ids, files = ("compact_01ARZ3NDEKTSV4RRFFQ69G5FAV", event_id(1)), ("", "f" * 900)
    wide = unchecked_evolve(record(1), concepts=("c" * 150,), files_touched=files, source_event_ids=ids, importance=11)
    cluster = _cluster("1", records=(wide,))
    await transact_one(storage, lambda tx: tx.park_cluster(cluster))
    assert await storage.list_parked_clusters(MINE) == [cluster]


@promise
async def a_cluster_is_replaced_by_its_id_until_it_is_unparked(storage: StorageBackend) -> None:
    later = attrs.evolve(_cluster("1"), attempt_count=2, problem="another", retry_at=at(9))
    for cluster in (_cluster("1"), later):
        await transact_one(storage, lambda tx, cluster=cluster: tx.park_cluster(cluster))  # type: ignore[misc]  # mypy cannot infer it
    assert await storage.list_parked_clusters(None) == [later]
    for _ in range(2):
        await transact_one(storage, lambda tx: tx.unpark_cluster("1"))
    assert await storage.list_parked_clusters(None) == []


@promise
async def usage_adds_up_by_day_and_project(storage: StorageBackend) -> None:
    for usage in (_usage(2), _usage(1, OTHERS), _usage(2, seconds=0.25, failure_count=1), _usage(0), _usage(1)):
        await transact_one(storage, lambda tx, usage=usage: tx.add_llm_usage(usage))  # type: ignore[misc]  # mypy cannot infer it
    assert await storage.list_llm_usage(since=_day(1)) == [
        _usage(1),
        _usage(1, OTHERS),
        LlmUsage(
            day=_day(2),
            namespace=MINE,
            call_count=2,
            failure_count=1,
            characters_in=20,
            characters_out=10,
            seconds=1.75,
        ),
    ]


def _cluster(cluster_id: str, namespace: Namespace = MINE, **values: Any) -> ParkedCluster:
    defaults: dict[str, Any] = {
        "records": (record(7, namespace=namespace),),
        "problem": "no room",
        "attempt_count": 1,
        "retry_at": at(5),
    }
    return ParkedCluster(cluster_id=cluster_id, namespace=namespace, **defaults | values)


def _day(number: int) -> date:
    return at(0).date() + timedelta(days=number)


def _usage(day: int, namespace: Namespace = MINE, **values: Any) -> LlmUsage:
    defaults: dict[str, Any] = {
        "call_count": 1,
        "failure_count": 0,
        "characters_in": 10,
        "characters_out": 5,
        "seconds": 1.5,
    }
    return LlmUsage(day=_day(day), namespace=namespace, **defaults | values)


def _put(number: int, namespace: Namespace = MINE) -> Callable[[StorageTransaction], int]:
    kept = event(number, namespace=namespace)
    return lambda tx: tx.put_event(kept, size_bytes=1, buffered=True)


@promise
async def events_of_one_commit_know_what_was_merged_and_forgotten_between_them(storage: StorageBackend) -> None:
    await transact_one(storage, _put(9, OTHERS))
    chosen = await storage.select(Selection(namespace=MINE, session="s-2"))
    assert chosen.event_ids == ()
    forgotten = attrs.evolve(chosen, event_ids=(event_id(1),))
    works: list[Callable[[StorageTransaction], object]] = [
        _put(1),
        _put(2),
        lambda tx: tx.doom(forgotten),
        lambda tx: tx.forget_doomed(limit=9),
        _put(1),
        _put(3),
        lambda tx: tx.begin_merge(MINE, OTHERS),
        _put(4),
    ]
    assert not [each for each in await storage.transact(works) if isinstance(each, Refused)]
    found = {each.event_id: each.namespace for each in await storage.get_events([event_id(n) for n in range(1, 10)])}
    assert event_id(1) not in found, "it was forgotten before it came again"
    assert (found[event_id(3)], found[event_id(4)]) == (MINE, OTHERS)


@promise
async def an_event_after_one_that_was_undone_is_kept_where_it_belongs(storage: StorageBackend) -> None:
    def undone(tx: StorageTransaction) -> None:
        _put(1)(tx)
        raise UnknownRecord("mr_x")

    def attempted(tx: StorageTransaction) -> None:
        with pytest.raises(UnknownRecord):
            tx.attempt(undone)
        _put(3)(tx)

    await storage.transact([undone, _put(2), undone, attempted, _put(4)])
    assert await storage.list_buffers() == {MINE: BufferSize(3, 3)}
    taken = await storage.snapshot_buffer(MINE, most_bytes=99)
    assert [entry.event.event_id for entry in taken.entries] == [event_id(2), event_id(3), event_id(4)]
