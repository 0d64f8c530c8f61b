from __future__ import annotations

from collections.abc import Sequence

from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.graph import GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import ToldId
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage import contract_graph as graph
from tests.unit.storage.builders import MINE, OTHERS, at, event_id, record, record_id
from tests.unit.storage.contract import promise


async def _tell(
    storage: StorageBackend, *numbers: int, prompt: int, session: str = "s", namespace: Namespace = MINE
) -> None:
    record_ids = [record_id(number) for number in numbers]
    await transact_one(storage, lambda tx: tx.put_told(namespace, session, record_ids, prompt_number=prompt))


async def _told(storage: StorageBackend) -> list[tuple[str, ToldId, int]]:
    return [(each.session_id, each.item_id, each.prompt_number) for each in await storage.list_told()]


async def _put(storage: StorageBackend, *numbers: int) -> None:
    for number in numbers:
        await put_record(storage, record(number, f"of {number}"))


async def _merge(storage: StorageBackend, went: Sequence[MemoryRecord], came: MemoryRecord) -> None:
    replacement = Replacement(
        replacement_id="1",
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=at(9),
        replacing=(came.record_id,),
        replaced=tuple(went),
    )

    def write(transaction: StorageTransaction) -> None:
        transaction.put_memory_record(came)
        transaction.replace_memory_records(replacement)

    await transact_one(storage, write)


@promise
async def what_sessions_were_told_is_kept_in_the_order_of_telling(storage: StorageBackend) -> None:
    await _put(storage, 1, 2, 3)
    await _tell(storage, 3, 1, prompt=1)
    await _tell(storage, 2, prompt=1, session="t")
    await _tell(storage, 3, prompt=4)
    assert await _told(storage) == [("s", record_id(1), 1), ("t", record_id(2), 1), ("s", record_id(3), 4)]
    assert {each.namespace for each in await storage.list_told()} == {MINE}


@promise
async def a_record_that_is_not_there_was_not_told(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await put_record(storage, record(2, namespace=OTHERS))
    await _tell(storage, 1, 2, 3, prompt=1)
    assert await _told(storage) == [("s", record_id(1), 1)]


@promise
async def clearing_a_session_leaves_the_others(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await put_record(storage, record(2, namespace=OTHERS))
    await _tell(storage, 1, prompt=1)
    await _tell(storage, 1, prompt=1, session="t")
    await _tell(storage, 2, prompt=1, namespace=OTHERS)
    await transact_one(storage, lambda tx: tx.clear_told(MINE, "s"))
    assert await _told(storage) == [("t", record_id(1), 1), ("s", record_id(2), 1)]


@promise
async def what_is_forgotten_was_told_to_no_session(storage: StorageBackend) -> None:
    await _put(storage, 1, 2)
    await _tell(storage, 1, 2, prompt=1)
    await delete_records(storage, [record_id(1)])
    assert await _told(storage) == [("s", record_id(2), 1)]


@promise
async def with_a_record_what_it_replaced_was_told_to_no_session(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await _tell(storage, 1, prompt=1)
    await _merge(storage, [record(1, "of 1")], record(2, "new"))
    assert await _told(storage) == [("s", record_id(1), 1)]
    await delete_records(storage, [record_id(2)])
    assert await _told(storage) == []


@promise
async def what_comes_back_was_told_and_what_goes_for_good_was_not(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "said twice"))
    await _put(storage, 3)
    await put_record(storage, record(4, "said twice", source_event_ids=(event_id(1),)))
    await _tell(storage, 1, 3, prompt=1)
    await _merge(storage, [record(1, "said twice"), record(3, "of 3")], record(2, "new"))
    await _tell(storage, 2, prompt=2)
    await delete_records(storage, [record_id(4)])
    await transact_one(storage, lambda tx: tx.undo_replacement(record_id(2)))
    assert await _told(storage) == [("s", record_id(3), 1)]


KIRA = graph.entity(1, "Kira")
ITEMS = (KIRA, graph.fact(1, KIRA), graph.procedure(1), graph.preference(1))


async def _tell_items(storage: StorageBackend, *item_ids: ToldId, prompt: int, session: str = "s") -> None:
    await transact_one(storage, lambda tx: tx.put_told(MINE, session, item_ids, prompt_number=prompt))


@promise
async def items_of_the_graph_are_told_as_records_are(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await graph.put(storage, *ITEMS, graph.entity(2, namespace=OTHERS))
    ids = [item.item_id for item in ITEMS]
    unknown = [graph.item_id(GraphKind.FACT, 9), graph.item_id(GraphKind.ENTITY, 2)]
    await _tell_items(storage, ids[3], record_id(1), *unknown, *ids[:3], prompt=1)
    await _tell_items(storage, ids[0], prompt=2)
    told = [("s", each, 1) for each in (ids[3], record_id(1), *ids[1:3])]
    assert await _told(storage) == [*told, ("s", ids[0], 2)]


@promise
async def what_is_deleted_from_the_graph_was_told_to_no_session(storage: StorageBackend) -> None:
    await graph.put(storage, *ITEMS)
    await _tell_items(storage, *(item.item_id for item in ITEMS), prompt=1)
    await transact_one(storage, lambda tx: tx.delete_graph_items([KIRA.item_id]))
    assert await _told(storage) == [("s", item.item_id, 1) for item in ITEMS[2:]], "with it went its fact"


@promise
async def what_is_to_be_told_again_was_told_to_no_session(storage: StorageBackend) -> None:
    await _put(storage, 1)
    await graph.put(storage, *ITEMS)
    for session in ("s", "t"):
        await _tell_items(storage, KIRA.item_id, record_id(1), prompt=1, session=session)
    await transact_one(storage, lambda tx: tx.forget_told([KIRA.item_id, graph.item_id(GraphKind.FACT, 9)]))
    assert await _told(storage) == [("s", record_id(1), 1), ("t", record_id(1), 1)]
