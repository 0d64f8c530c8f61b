from __future__ import annotations

from datetime import timedelta
from operator import methodcaller
from typing import Any

import attrs
import pytest

from kiro_learn.errors import NothingToUndo
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import Event, JsonBody, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.model.retention import EXPIRED, Amount
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.testing.storage import delete_records, put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event, event_id, record, record_id
from tests.unit.storage.contract import promise

OLD = EventAge(namespace=MINE, before=at(60), important_before=at(30))
OLD_RECORDS = RecordAge(namespace=MINE, before=at(60), notable_before=at(30))


async def _learned(storage: StorageBackend, number: int, **values: Any) -> None:
    """Put an event that no longer waits, and a record that cites it."""
    await put_event(storage, event(number))
    await put_record(storage, record(number, **values))


async def _expirable(storage: StorageBackend, age: EventAge = OLD) -> list[EventId]:
    found = await storage.list_expirable(age, limit=99)
    assert (await storage.count_expirable(age)).count == len(found)
    return found


async def _distillable(storage: StorageBackend) -> list[RecordId]:
    return [each.record_id for each in await storage.list_distillable(OLD_RECORDS, after=None, limit=99)]


async def _replace(storage: StorageBackend, went: MemoryRecord, came: MemoryRecord, minute: float) -> None:
    replacement = Replacement(
        replacement_id=f"by {came.record_id}",
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=at(minute),
        replacing=(came.record_id,),
        replaced=(went,),
    )

    def write(transaction: StorageTransaction) -> None:
        transaction.put_memory_record(came)
        transaction.replace_memory_records(replacement)

    await transact_one(storage, write)


@promise
async def old_events_of_a_session_may_expire_up_to_the_last_that_a_record_cites(storage: StorageBackend) -> None:
    for number in (1, 2, 4):
        await put_event(storage, event(number))
    await transact_one(storage, lambda tx: tx.put_event(event(3), buffered=True))
    await put_record(storage, record(9, source_event_ids=(event_id(2), event_id(3))))
    await put_event(storage, event(5, session_id="nothing was learned of it"))
    await put_event(storage, event(6, namespace=OTHERS))
    await put_record(storage, record(6, namespace=OTHERS))
    assert await _expirable(storage) == [event_id(1), event_id(2)]


@promise
async def what_is_not_old_yet_does_not_expire(storage: StorageBackend) -> None:
    for number in (59, 60, 61):
        await _learned(storage, number)
    assert await _expirable(storage) == [event_id(59)]


@promise
async def events_of_sessions_with_important_records_are_kept_longer(storage: StorageBackend) -> None:
    for number, importance in ((29, 8), (31, 3), (32, 8)):
        await _learned(storage, number, importance=importance)
    await put_event(storage, event(40, session_id="notable"))
    await put_record(storage, record(40, importance=7))
    assert await _expirable(storage) == [event_id(29), event_id(40)]


@promise
async def events_of_a_forgotten_record_may_expire(storage: StorageBackend) -> None:
    await _learned(storage, 1)
    await delete_records(storage, [record_id(1)])
    assert await _expirable(storage) == [event_id(1)]


@promise
async def an_expired_event_keeps_all_but_its_content(storage: StorageBackend) -> None:
    told = event(1, body=JsonBody({"tool_name": "read", "tool_response": "a secret plan"}), content_hash=None)
    await put_event(storage, told)
    await put_record(storage, record(1))
    size = (await storage.count_expirable(OLD)).bytes
    economics = await storage.get_token_economics(MINE)
    assert await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(1)])) == Amount(1, size)
    assert await storage.get_event_by_id(event_id(1)) == attrs.evolve(told, body=TextBody(EXPIRED))
    assert await storage.get_token_economics(MINE) == economics
    assert await _expirable(storage) == []
    assert await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(1), event_id(9)])) == Amount()
    await put_event(storage, event(2))
    assert await transact_one(storage, lambda tx: tx.expire_events(OTHERS, [event_id(2)])) == Amount()
    assert await transact_one(storage, lambda tx: tx.put_event(told, buffered=True)) == 0


@promise
async def what_waits_by_now_does_not_expire(storage: StorageBackend) -> None:
    await transact_one(storage, lambda tx: tx.put_event(event(1), buffered=True))
    await put_record(storage, record(1))
    assert await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(1)])) == Amount()
    assert await storage.get_event_by_id(event_id(1)) == event(1)


@promise
async def what_a_parked_cluster_cites_does_not_expire(storage: StorageBackend) -> None:
    """A parked cluster's records are not stored yet."""
    for number in (1, 2):
        await put_event(storage, event(number))
    await put_record(storage, record(2))
    cluster = ParkedCluster(
        cluster_id="c", namespace=MINE, records=(record(1),), problem="none", attempt_count=1, retry_at=at(9)
    )
    await transact_one(storage, lambda tx: tx.park_cluster(cluster))
    assert await _expirable(storage) == [event_id(2)]
    assert await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(1)])) == Amount()
    await transact_one(storage, lambda tx: tx.unpark_cluster(cluster.cluster_id))
    assert await _expirable(storage) == [event_id(1), event_id(2)]


@promise
async def nothing_is_learned_again_from_an_expired_event(storage: StorageBackend) -> None:
    for number in (1, 2):
        await _learned(storage, number)
    await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(1)]))
    again = await storage.snapshot_events(MINE, since=None, after=None, most_bytes=9_999)
    assert [entry.event.event_id for entry in again.entries] == [event_id(2)]
    assert event_id(1) not in {each.event_id for each in again.earlier_prompts}
    assert await storage.has_expired([event_id(2), event_id(1)])
    assert not await storage.has_expired([event_id(2), event_id(9)])


@promise
async def old_records_may_be_distilled_by_their_importance(storage: StorageBackend) -> None:
    for number, importance in ((1, 8), (2, 6), (3, None), (31, 6), (32, 5), (61, None)):
        await _learned(storage, number, importance=importance)
    assert await _distillable(storage) == [record_id(2), record_id(3), record_id(32)]
    await transact_one(storage, lambda tx: tx.mark_distilled([record_id(2), record_id(9)]))
    assert await _distillable(storage) == [record_id(3), record_id(32)]
    after = (at(3), record_id(3))
    found = await storage.list_distillable(OLD_RECORDS, after=after, limit=99)
    assert [each.record_id for each in found] == [record_id(32)]


@promise
async def what_a_person_said_or_what_binds_is_not_distilled(storage: StorageBackend) -> None:
    kept: tuple[dict[str, Any], ...] = (
        {"origin": Origin.USER},
        {"knowledge_type": KnowledgeType.CONSTRAINT},
        {"observation_type": ObservationType.DECISION},
        {"strategy": "edited"},
        {"strategy": "team-shared"},
        {"capture_type": "file-write"},
        {"namespace": OTHERS},
    )
    for number, values in enumerate(kept, start=1):
        await put_record(storage, record(number, **values))
    await put_record(storage, record(9, knowledge_type=KnowledgeType.HEURISTIC))
    assert await _distillable(storage) == [record_id(9)]


@promise
async def a_distilled_record_that_was_put_back_is_not_distilled_again(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await transact_one(storage, lambda tx: tx.mark_distilled([record_id(1)]))
    await _replace(storage, record(1), record(2), 5)
    await transact_one(storage, lambda tx: tx.mark_distilled([record_id(2)]))
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert await _distillable(storage) == []
    assert await storage.get_memory_records([record_id(1)]) == [record(1)]


@promise
async def what_was_replaced_long_ago_can_be_deleted(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "first"))
    await _replace(storage, record(1, "first"), record(2, "second"), 5)
    await _replace(storage, record(2, "second"), record(3, "third"), 7)
    amount = await storage.count_replaced(MINE, before=at(6))
    assert amount.count == 1
    assert amount.bytes == len("first" + "a summary" + "[]")
    assert await storage.count_replaced(OTHERS, before=at(6)) == Amount()
    assert await transact_one(storage, lambda tx: tx.delete_replaced(MINE, before=at(6), limit=9)) == amount
    assert await storage.count_replaced(MINE, before=at(6)) == Amount()
    (left,) = await storage.list_replacements(record_id(3))
    assert [each.title for each in left.replaced] == ["second"]
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(3)))
    with pytest.raises(NothingToUndo):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))


@promise
async def giving_back_space_changes_no_answer(storage: StorageBackend) -> None:
    for number in range(1, 40):
        await _learned(storage, number, summary="word " * 300)
    await delete_records(storage, [record_id(number) for number in range(1, 30)])
    await storage.erase_forgotten()
    before = await storage.list_memory_records(namespace=MINE, limit=99, offset=0)
    arrivals = await storage.snapshot_events(MINE, since=None, after=None, most_bytes=99_999)
    await storage.give_back_space()
    size = await storage.get_file_size()
    assert size.free_bytes <= size.bytes / 10
    assert await storage.list_memory_records(namespace=MINE, limit=99, offset=0) == before
    assert await storage.snapshot_events(MINE, since=None, after=None, most_bytes=99_999) == arrivals
    later: Event = event(50, valid_time=DAWN + timedelta(days=1))
    assert await transact_one(storage, lambda tx: tx.put_event(later, buffered=True)) > 0


@promise
async def replaced_records_are_deleted_by_the_replacement_the_first_one_first(storage: StorageBackend) -> None:
    for number in range(1, 7):
        await put_record(storage, record(number))
    for came, went in ((3, (1, 2)), (6, (5,))):
        replacement = Replacement(
            replacement_id=f"by {came}",
            namespace=MINE,
            reason=ReplacementReason.MERGED,
            replaced_at=at(1),
            replacing=(record_id(came),),
            replaced=tuple(record(number) for number in went),
        )
        await transact_one(storage, methodcaller("replace_memory_records", replacement))
    for count in (2, 1, 0):
        gone = await transact_one(storage, lambda tx: tx.delete_replaced(MINE, before=at(6), limit=1))
        assert gone.count == count
