from __future__ import annotations

import attrs
import pytest

from kiro_learn.errors import NothingToUndo
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import delete_records, put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event, event_id, record, record_id
from tests.unit.storage.contract import promise


async def _is_forgotten(storage: StorageBackend, asked: MemoryRecord) -> bool:
    return await transact_one(storage, lambda tx: tx.is_forgotten(asked))


async def _has_forgotten(storage: StorageBackend, namespace: Namespace, *events: EventId) -> bool:
    return await transact_one(storage, lambda tx: tx.has_forgotten(namespace, events))


def _replace(went: tuple[MemoryRecord, ...], came: MemoryRecord, name: str) -> Replacement:
    return Replacement(
        replacement_id=name,
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=at(9),
        replacing=(came.record_id,),
        replaced=went,
    )


async def _merge(storage: StorageBackend, went: tuple[MemoryRecord, ...], came: MemoryRecord, name: str) -> None:
    def write(transaction: StorageTransaction) -> None:
        transaction.put_memory_record(came)
        transaction.replace_memory_records(_replace(went, came, name))

    await transact_one(storage, write)


@promise
async def what_was_forgotten_is_known_by_its_events_and_by_its_words(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "Use **pnpm**", source_event_ids=(event_id(1), event_id(2))))
    assert not await _is_forgotten(storage, record(1, "Use pnpm"))
    await delete_records(storage, [record_id(1)])
    assert await _is_forgotten(storage, record(2, "in other words", source_event_ids=(event_id(7), event_id(2))))
    assert await _is_forgotten(storage, record(9, "use pnpm"))
    assert not await _is_forgotten(storage, record(9, "Use npm"))
    assert not await _is_forgotten(storage, record(1, "Use pnpm", namespace=OTHERS))
    assert await _has_forgotten(storage, MINE, event_id(7), event_id(1))
    assert not await _has_forgotten(storage, MINE, event_id(7))
    assert not await _has_forgotten(storage, OTHERS, event_id(1))


@promise
async def with_a_record_all_that_it_replaced_is_forgotten(storage: StorageBackend) -> None:
    old, new = record(1, "old"), record(2, "new")
    await put_record(storage, old)
    await _merge(storage, (old,), new, "1 by 2")
    assert not await _has_forgotten(storage, MINE, event_id(1), event_id(2))
    await delete_records(storage, [record_id(2)])
    assert await _has_forgotten(storage, MINE, event_id(1))
    assert await _is_forgotten(storage, record(9, "old"))
    assert await _is_forgotten(storage, record(9, "new"))


@promise
async def what_was_replaced_and_then_forgotten_is_forgotten_too(storage: StorageBackend) -> None:
    old, other, new = record(1, "old"), record(3, "other"), record(2, "new")
    await put_record(storage, old)
    await put_record(storage, other)
    await _merge(storage, (old, other), new, "1 and 3 by 2")
    await delete_records(storage, [record_id(1)])
    assert await _is_forgotten(storage, record(9, "old"))
    assert not await _is_forgotten(storage, record(9, "other"))
    undone = await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert undone.replaced == (other,)


@promise
async def undoing_does_not_bring_back_the_same_words_of_the_same_event(storage: StorageBackend) -> None:
    """Of two records of a turn with the same words, one was merged and the other one forgotten."""
    twin, other = record(1, "said twice"), record(3, "said once", source_event_ids=(event_id(1),))
    await put_record(storage, twin)
    await put_record(storage, other)
    await put_record(storage, record(4, "said twice", source_event_ids=(event_id(1),)))
    await _merge(storage, (twin, other), record(2, "both", source_event_ids=(event_id(5),)), "1 and 3 by 2")
    await delete_records(storage, [record_id(4)])
    undone = await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert undone.replaced == (other,)
    page = await storage.list_memory_records(namespace=MINE, limit=9, offset=0)
    assert page.items == (other,)
    await put_record(storage, twin)


@promise
async def where_all_of_it_was_forgotten_there_is_nothing_to_undo(storage: StorageBackend) -> None:
    twin = record(1, "said twice")
    await put_record(storage, twin)
    await put_record(storage, record(4, "said twice", source_event_ids=(event_id(1),)))
    await _merge(storage, (twin,), record(2, "both", source_event_ids=(event_id(5),)), "1 by 2")
    await delete_records(storage, [record_id(4)])
    with pytest.raises(NothingToUndo):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert len((await storage.list_memory_records(namespace=MINE, limit=9, offset=0)).items) == 1


@promise
async def undoing_is_not_forgetting(storage: StorageBackend) -> None:
    old, new = record(1, "old"), record(2, "new")
    await put_record(storage, old)
    await _merge(storage, (old,), new, "1 by 2")
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert not await _is_forgotten(storage, new)


@promise
async def a_refused_piece_of_work_forgets_nothing(storage: StorageBackend) -> None:
    await put_record(storage, record(1))

    def work(transaction: StorageTransaction) -> None:
        transaction.delete_memory_record([record_id(1)])
        raise NothingToUndo(record_id(1))

    with pytest.raises(NothingToUndo):
        await transact_one(storage, work)
    assert not await _has_forgotten(storage, MINE, event_id(1))


@promise
async def forgotten_events_are_not_learned_again_nor_shown_with_others(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        await put_event(storage, event(number))
    await transact_one(storage, lambda tx: tx.put_event(event(4), size_bytes=9, buffered=True))
    await put_record(storage, record(1, source_event_ids=(event_id(2),)))
    await delete_records(storage, [record_id(1)])
    past = await storage.snapshot_events(MINE, since=None, after=None, most_bytes=10_000)
    assert [each.event_id for each in past.events] == [event_id(1), event_id(3)]
    rest = await storage.snapshot_events(MINE, since=None, after=event_id(1), most_bytes=10_000)
    assert [each.event_id for each in rest.earlier_prompts] == [event_id(1)]
    waiting = await storage.snapshot_buffer(MINE, most_bytes=10_000)
    assert [each.event_id for each in waiting.earlier_prompts] == [event_id(1), event_id(3)]
    assert (await storage.list_events(namespace=MINE, limit=9, cursor=None)).total == 4


@promise
async def an_answer_that_was_forgotten_still_ends_its_turn(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_event(storage, event(2, kind=EventKind.SESSION_SUMMARY))
    await transact_one(storage, lambda tx: tx.put_event(event(3), size_bytes=9, buffered=True))
    await put_record(storage, record(1, source_event_ids=(event_id(2),)))
    await delete_records(storage, [record_id(1)])
    assert (await storage.snapshot_buffer(MINE, most_bytes=10_000)).earlier_prompts == ()


@promise
async def parked_records_that_would_bring_it_back_are_dropped(storage: StorageBackend) -> None:
    def cluster(name: str, *records: MemoryRecord) -> ParkedCluster:
        return ParkedCluster(
            cluster_id=name, namespace=MINE, records=records, problem="full", attempt_count=1, retry_at=DAWN
        )

    mine, others = record(5, "said"), record(6, "else")
    both, only = cluster("a", mine, others), cluster("b", record(7, "Said"))
    elsewhere = attrs.evolve(cluster("c", record(8, "said", namespace=OTHERS)), namespace=OTHERS)
    for each in (both, only, elsewhere):
        await transact_one(storage, lambda tx, each=each: tx.park_cluster(each))  # type: ignore[misc]  # mypy cannot infer it
    await put_record(storage, record(1, "said"))
    await delete_records(storage, [record_id(1)])
    assert await storage.list_parked_clusters(None) == [cluster("a", others), elsewhere]
