from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.errors import DuplicateRecord, InvalidRequest, NothingToUndo, ReplacedSince, UnknownRecord
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.ports.storage.answers import (
    Change,
    Committed,
    EmbeddingTable,
    RecordEmbedded,
    RecordRemoved,
    RecordStored,
    SearchParams,
)
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, parts, record, record_id
from tests.unit.storage.contract import promise


@promise
async def what_was_replaced_is_seen_by_nothing_but_its_history(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
    await _replace(storage, went=[1, 2], came=[3])
    assert await _alive(storage) == [record_id(3)]
    assert await storage.get_memory_records([record_id(1), record_id(2)]) == []
    assert await storage.get_ranking_features([record_id(1)]) == {}
    assert (await storage.list_embeddings(MINE)).record_ids == ()
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(3)]
    assert (await storage.count_embeddings(None)).total == (await storage.get_stats(None)).total_memories == 1
    assert await storage.list_replacements(record_id(3)) == (_replacement(went=[1, 2], came=[3]),)


@promise
async def what_stands_for_a_replaced_record_is_found_by_the_end_of_that_one(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await _replace(storage, went=[1], came=[3])
    await _replace(storage, went=[3, 2], came=[4])
    for went in (1, 2, 3):
        for ending in (record_id(went), record_id(went)[-6:]):
            assert await storage.find_successors(MINE, ending, 5) == [record_id(4)], ending
    assert await storage.find_successors(OTHERS, record_id(1), 5) == []
    assert await storage.find_successors(MINE, record_id(4), 5) == []
    assert await storage.find_successors(MINE, "%", 5) == []


@promise
async def what_is_replaced_is_part_of_the_size_of_its_project(storage: StorageBackend) -> None:
    await _put(storage, 1)
    one = (await storage.get_project_sizes())[MINE]
    await _replace(storage, went=[1], came=[2])
    assert await storage.get_project_sizes() == {MINE: 2 * one}


@promise
async def of_what_is_replaced_the_stored_record_counts(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "as stored"))
    await _replace(storage, went=[1], came=[2])
    (replacement,) = await storage.list_replacements(record_id(2))
    assert [went.title for went in replacement.replaced] == ["as stored"]


@promise
async def replacing_tells_of_what_is_gone(storage: StorageBackend) -> None:
    await _put(storage, 1, 2, 3)
    outcomes = await storage.transact([lambda tx: tx.replace_memory_records(_replacement(went=[2, 1], came=[3]))])
    assert outcomes == [Committed(None, (RecordRemoved(MINE, record_id(2)), RecordRemoved(MINE, record_id(1))))]


@promise
async def only_live_records_of_one_project_replace_one_another(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await put_record(storage, record(3, namespace=OTHERS))
    for went, came, missing in (([1, 9], [2], 9), ([1], [9], 9), ([1], [3], 3), ([3], [2], 3)):
        with pytest.raises(UnknownRecord, match=record_id(missing)):
            await transact_one(
                storage,
                lambda tx, went=went, came=came: tx.replace_memory_records(_replacement(went=went, came=came)),  # type: ignore[misc]  # mypy cannot infer it
            )
    assert await _alive(storage) == [record_id(2), record_id(1)]


@promise
async def a_record_comes_with_one_replacement_and_does_not_replace_itself(storage: StorageBackend) -> None:
    await _put(storage, 1, 2, 4)
    await _replace(storage, went=[1], came=[3])
    for went, came, named in (([2], [3], "other"), ([2], [2], "other"), ([2], [4], "1 by 3")):
        with pytest.raises(InvalidRequest):
            await transact_one(
                storage,
                lambda tx, went=went, came=came, named=named: tx.replace_memory_records(  # type: ignore[misc]  # mypy cannot infer it
                    _replacement(went=went, came=came, replacement_id=named)
                ),
            )
    assert await _alive(storage) == [record_id(number) for number in (4, 3, 2)]


@promise
async def an_undone_replacement_never_happened(storage: StorageBackend) -> None:
    await _put(storage, 1, 2, 3)
    for number in (1, 3):
        await transact_one(
            storage,
            lambda tx, number=number: tx.put_embedding(record_id(number), parts(number, number + 4)),  # type: ignore[misc]  # mypy cannot infer it
        )
    await transact_one(storage, lambda tx: tx.set_embedding_aside(record_id(2), "too odd"))
    before = await _everything(storage)
    await _replace(storage, went=[1, 2], came=[4, 5])
    assert await _everything(storage) != before
    undone = await transact_one(storage, lambda tx: tx.undo_replacement(record_id(5)))
    assert undone == _replacement(went=[1, 2], came=[4, 5])
    assert await _everything(storage) == before
    assert await storage.list_replacements(record_id(4)) == ()
    await put_record(storage, record(4, "the id is free again"))


@promise
async def undoing_tells_of_what_goes_and_what_is_back(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(2), parts(2, 3)))
    await _replace(storage, went=[2, 1], came=[3])
    (outcome,) = await storage.transact([lambda tx: tx.undo_replacement(record_id(3))])
    assert isinstance(outcome, Committed)
    assert list(map(_told, outcome.changes)) == [
        RecordRemoved(MINE, record_id(3)),
        RecordStored(MINE, record_id(1)),
        RecordStored(MINE, record_id(2)),
        (record_id(2), at(2), parts(2, 3).tobytes()),
    ]


@promise
async def what_replaced_nothing_cannot_be_undone(storage: StorageBackend) -> None:
    await _put(storage, 1)
    with pytest.raises(NothingToUndo):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(1)))
    with pytest.raises(UnknownRecord):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(9)))


@promise
async def what_was_built_upon_is_undone_after_what_stands_on_it(storage: StorageBackend) -> None:
    """1 → 2, 3; then 3 → 4, 5; then 5 → 6: only 6 can be undone, and it is named whichever way is tried."""
    await _put(storage, 1)
    await _replace(storage, went=[1], came=[2, 3])
    await _replace(storage, went=[3], came=[4, 5])
    await _replace(storage, went=[5], came=[6])
    for number, gone in ((2, 3), (3, 3), (4, 5)):
        with pytest.raises(ReplacedSince) as refused:
            await transact_one(storage, lambda tx, number=number: tx.undo_replacement(record_id(number)))  # type: ignore[misc]  # mypy cannot infer it
        assert (refused.value.record_id, refused.value.replaced_by) == (record_id(gone), record_id(6))
    for number in (6, 4, 2):
        await transact_one(storage, lambda tx, number=number: tx.undo_replacement(record_id(number)))  # type: ignore[misc]  # mypy cannot infer it
    assert await _alive(storage) == [record_id(1)]


@promise
async def a_history_goes_all_the_way_back_newest_first(storage: StorageBackend) -> None:
    """1, 2 → 5; 3 → 6; then 5, 6 → 7."""
    await _put(storage, 1, 2, 3)
    await _replace(storage, went=[1, 2], came=[5])
    await _replace(storage, went=[3], came=[6])
    await _replace(storage, went=[6, 5], came=[7])
    told = await storage.list_replacements(record_id(7))
    assert [[went.record_id for went in each.replaced] for each in told] == [
        [record_id(5), record_id(6)],
        [record_id(3)],
        [record_id(1), record_id(2)],
    ]
    assert await storage.list_replacements(record_id(5)) == told[2:]
    assert await storage.list_replacements(record_id(1)) == ()


@promise
async def forgetting_a_record_forgets_all_that_it_replaced(storage: StorageBackend) -> None:
    """1, 2 → 3, 4; then 3 → 5. Text of 1 may be in 5: forgetting 5 leaves only 4, now without replaced records."""
    await _put(storage, 1, 2)
    await _replace(storage, went=[1, 2], came=[3, 4])
    await _replace(storage, went=[3], came=[5])
    assert await delete_records(storage, [record_id(5), record_id(1)]) == 2
    assert await _alive(storage) == [record_id(4)]
    assert await storage.list_replacements(record_id(4)) == ()
    with pytest.raises(NothingToUndo):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(4)))
    assert await delete_records(storage, [record_id(number) for number in (1, 2, 3)]) == 0


@promise
async def a_replaced_record_can_be_forgotten_by_its_own_id(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await _replace(storage, went=[1, 2], came=[3])
    (outcome,) = await storage.transact([lambda tx: tx.delete_memory_record([record_id(1)])])
    assert outcome == Committed(1, ())
    (replacement,) = await storage.list_replacements(record_id(3))
    assert [went.record_id for went in replacement.replaced] == [record_id(2)]
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(3)))
    assert await _alive(storage) == [record_id(2)]


@promise
async def a_record_whose_past_was_forgotten_replaced_nothing(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await _replace(storage, went=[1], came=[2])
    await delete_records(storage, [record_id(1)])
    assert await storage.list_replacements(record_id(2)) == ()
    with pytest.raises(NothingToUndo):
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert await _alive(storage) == [record_id(2)]


@promise
async def the_id_of_a_replaced_record_is_taken(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await _replace(storage, went=[1], came=[2])
    with pytest.raises(DuplicateRecord):
        await put_record(storage, record(1))


@promise
async def what_is_replaced_takes_no_vector(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await _replace(storage, went=[1], came=[2])

    def late(tx: StorageTransaction) -> None:
        tx.put_embedding(record_id(1), parts(1))
        tx.set_embedding_aside(record_id(1), "too odd")

    assert await storage.transact([late]) == [Committed(None, ())]
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert await storage.list_unembedded(9) == [record(1)]


def _replacement(*, went: list[int], came: list[int], replacement_id: str | None = None) -> Replacement:
    return Replacement(
        replacement_id=replacement_id or f"{went[0]} by {came[0]}",
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=at(came[0]),
        replacing=tuple(map(record_id, came)),
        replaced=tuple(map(record, went)),
    )


async def _put(storage: StorageBackend, *numbers: int) -> None:
    for number in numbers:
        await put_record(storage, record(number))


async def _replace(storage: StorageBackend, *, went: list[int], came: list[int]) -> None:
    def replace(tx: StorageTransaction) -> None:
        for number in came:
            tx.put_memory_record(record(number))
        tx.replace_memory_records(_replacement(went=went, came=came))

    await transact_one(storage, replace)


async def _alive(storage: StorageBackend) -> list[RecordId]:
    page = await storage.list_memory_records(namespace=MINE, limit=99, offset=0)
    return [item.record_id for item in page.items]


async def _everything(storage: StorageBackend) -> list[Any]:
    params = SearchParams(MINE, "title summary", limit=9)
    table: EmbeddingTable = await storage.list_embeddings(MINE)
    return [
        await storage.list_memory_records(namespace=MINE, limit=99, offset=0),
        await storage.rank_by_words(params),
        (table.record_ids, table.created_ats, table.row_counts, table.vectors.tobytes()),
        await storage.list_unembedded(9),
        await storage.count_embeddings(MINE),
    ]


def _told(change: Change) -> Any:
    if isinstance(change, RecordEmbedded):
        return change.record_id, change.created_at, change.parts.tobytes()
    return change
