from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, RecordFilter
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.ports.storage.retention import RecordAge
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, record, record_id
from tests.unit.storage.contract import promise

PINNED = RecordFilter(is_pinned=True)


async def _pin(storage: StorageBackend, numbers: Collection[int], when: datetime | None) -> int:
    ids = [record_id(number) for number in numbers]
    return await transact_one(storage, lambda tx: tx.set_pinned(ids, when))


async def _pins(storage: StorageBackend, numbers: Collection[int]) -> list[datetime | None]:
    found = await storage.get_memory_records([record_id(number) for number in numbers])
    return [each.pinned_at for each in found]


async def _replace(storage: StorageBackend, *, went: Collection[int], came: Collection[int]) -> None:
    replacement = Replacement(
        replacement_id=f"{came} for {went}",
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=at(50),
        replacing=tuple(map(record_id, came)),
        replaced=tuple(map(record, went)),
    )

    def work(tx: StorageTransaction) -> None:
        for number in came:
            tx.put_memory_record(record(number))
        tx.replace_memory_records(replacement)

    await transact_one(storage, work)


@promise
async def a_pin_is_set_and_taken_away(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_record(storage, record(number))
    assert await _pin(storage, [1, 9], at(7)) == 1
    assert await _pins(storage, [1, 2]) == [at(7), None]
    assert await _pin(storage, [1, 2], None) == 1, "one of them was pinned"
    assert await _pins(storage, [1, 2]) == [None, None]


@promise
async def what_is_pinned_already_keeps_its_time(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await _pin(storage, [1], at(7))
    assert await _pin(storage, [1], at(9)) == 0
    assert await _pins(storage, [1]) == [at(7)]


@promise
async def a_record_may_come_pinned(storage: StorageBackend) -> None:
    pinned = record(1, pinned_at=at(3))
    await put_record(storage, pinned)
    assert await storage.get_memory_records([record_id(1)]) == [pinned]


@promise
async def a_filter_knows_what_is_pinned(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        await put_record(storage, record(number))
    await put_record(storage, record(4, namespace=OTHERS))
    await _pin(storage, [1, 3, 4], at(9))

    async def listed(wanted: RecordFilter, namespace: object = MINE) -> list[RecordId]:
        query = RecordQuery(namespace=namespace, limit=9, filter=wanted)  # type: ignore[arg-type]  # one of two
        return [each.record_id for each in await storage.list_records(query)]

    assert await listed(PINNED) == [record_id(3), record_id(1)]
    assert await listed(PINNED, None) == [record_id(4), record_id(3), record_id(1)]
    assert await listed(RecordFilter(is_pinned=False)) == [record_id(2)]
    assert await storage.get_fitting_ids([record_id(1), record_id(2)], PINNED) == {record_id(1)}


@promise
async def what_replaces_a_pinned_record_is_pinned(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        await put_record(storage, record(number))
    await _pin(storage, [2], at(8))
    await _pin(storage, [3], at(7))
    await _replace(storage, went=[1, 2, 3], came=[4, 5])
    assert await _pins(storage, [4, 5]) == [at(7), at(7)], "since the first of them was"


@promise
async def what_replaces_records_that_are_not_pinned_is_not(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_record(storage, record(number))
    await _pin(storage, [2], at(8))
    await _replace(storage, went=[1], came=[3])
    assert await _pins(storage, [2, 3]) == [at(8), None]


@promise
async def undoing_brings_back_each_pin(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_record(storage, record(number))
    await _pin(storage, [1], at(8))
    await _replace(storage, went=[1, 2], came=[3])
    (replacement,) = await storage.list_replacements(record_id(3))
    assert [each.pinned_at for each in replacement.replaced] == [at(8), None]
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(3)))
    assert await _pins(storage, [1, 2]) == [at(8), None]


@promise
async def what_is_pinned_grows_no_shorter_by_age(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_record(storage, record(number))
    await _pin(storage, [1], at(8))
    age = RecordAge(namespace=MINE, before=at(60), notable_before=at(60))
    kept: list[MemoryRecord] = await storage.list_distillable(age, after=None, limit=9)
    assert [each.record_id for each in kept] == [record_id(2)]


@promise
async def a_forgotten_record_takes_its_pin_along(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await _pin(storage, [1], at(8))
    await delete_records(storage, [record_id(1)])
    assert await storage.list_records(RecordQuery(namespace=None, limit=9, filter=PINNED)) == []
