from __future__ import annotations

import attrs
import pytest

from kiro_learn.errors import InvalidRequest, StorageError
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import EventKind
from kiro_learn.model.graph import Evidence, GraphItem, GraphKind, Says, SourceType, Validity
from kiro_learn.model.namespace import Pause, namespace_of
from kiro_learn.model.retention import Selected
from kiro_learn.model.retrieval import BRIEF, ToldId
from kiro_learn.model.stored import (
    KINDS,
    Restored,
    Stored,
    StoredEvent,
    StoredMemory,
    StoredMerge,
    StoredProject,
    StoredReplaced,
)
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import (
    InMemoryStorage,
    delete_records,
    put_event,
    put_record,
    search_records,
    transact_one,
)
from kiro_learn.wire.exported import read_line, read_piece, write_piece
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event, event_id, record
from tests.unit.storage.contract import promise
from tests.unit.storage.contract_graph import KIRA, VERCEL, edge, fact, item_id, listed, preference, procedure


async def kept(storage: StorageBackend, *kinds: str) -> list[Stored]:
    """All stored pieces, as they come back from the lines of an export."""
    reading = await storage.open_reading(kinds or KINDS)
    pieces: list[Stored] = []
    while page := await reading.next_page():
        pieces += [read_piece(*read_line(write_piece(piece))) for piece in page]
    await reading.close()
    return pieces


async def restore(storage: StorageBackend, *pieces: Stored) -> list[Restored]:
    def work(transaction: StorageTransaction) -> list[Restored]:
        return [transaction.restore(piece) for piece in pieces]

    return await transact_one(storage, work)


async def merge(storage: StorageBackend, number: int, *replaced: int) -> None:
    """Replace records by the record ``number``."""
    came = record(number, "the merged one")

    def work(transaction: StorageTransaction) -> None:
        transaction.put_memory_record(came)
        transaction.replace_memory_records(
            Replacement(
                replacement_id=f"replacement {number}",
                namespace=MINE,
                reason=ReplacementReason.MERGED,
                replaced_at=at(9),
                replacing=(came.record_id,),
                replaced=tuple(record(each) for each in replaced),
            )
        )

    await transact_one(storage, work)


@promise
async def the_graph_comes_back_with_its_times_and_what_speaks_for_it(storage: StorageBackend) -> None:
    closed = Validity(valid_from=at(1), valid_until=at(2), observed_at=at(3), retired_at=at(4))
    items: list[GraphItem] = [
        KIRA,
        VERCEL,
        edge(1, KIRA, VERCEL, validity=closed),
        fact(2, KIRA, "a value \u2028 of two lines", source_type=SourceType.CORRECTED, validity=closed),
        fact(1, KIRA, superseded_by=item_id(GraphKind.FACT, 2)),
        procedure(1, last_used=at(5)),
        preference(1, strength=0.75),
    ]
    evidence = [
        Evidence(items[3].item_id, event_id(1), at(1), 0.5, Says.ENDED, valid_until=at(2)),
        Evidence(item_id(GraphKind.FACT, 99), event_id(1), at(1), 0.0),  # belongs to a forgotten fact
    ]

    def work(transaction: StorageTransaction) -> None:
        transaction.put_graph_items(items)
        transaction.put_graph_evidence(evidence)

    await transact_one(storage, work)
    pieces = await kept(storage)
    assert pieces[1:-2] == items
    assert pieces[-2:] == evidence
    other = InMemoryStorage()
    assert set(await restore(other, *pieces)) == {Restored.STORED}
    assert await kept(other) == pieces
    assert await listed(other, GraphKind.FACT) == await listed(storage, GraphKind.FACT)
    assert set(await restore(other, *pieces[1:])) == {Restored.KNOWN}


@promise
async def what_was_replaced_can_be_undone_in_the_other_store(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "the first"))
    await put_record(storage, record(2, "the second"))
    await merge(storage, 3, 1, 2)
    other = InMemoryStorage()
    await restore(other, *await kept(storage))
    undone = await transact_one(other, lambda transaction: transaction.undo_replacement(record(3).record_id))
    assert [each.title for each in undone.replaced] == ["the first", "the second"]
    found = await search_records(other, SearchParams(MINE, "second", limit=5))
    assert [each.record_id for each in found] == [record(2).record_id]


@promise
async def a_reading_is_of_the_moment_it_began(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    reading = await storage.open_reading(["memory"])
    await put_record(storage, record(2))
    page = await reading.next_page()
    assert [piece.record.record_id for piece in page if isinstance(piece, StoredMemory)] == [record(1).record_id]
    assert await reading.next_page() == []
    await reading.close()
    await reading.close()


@promise
async def what_was_forgotten_stays_so_and_takes_nothing_else_with_it(storage: StorageBackend) -> None:
    told = record(1, "of the same event", source_event_ids=(event_id(2),))
    for each in (told, record(2, "to be forgotten")):
        await put_record(storage, each)
    before = await kept(storage)
    await delete_records(storage, [record(2).record_id])
    assert await restore(storage, *before) == [Restored.STORED, Restored.KNOWN, Restored.FORGOTTEN]
    other = InMemoryStorage()
    assert set(await restore(other, *await kept(storage))) == {Restored.STORED}
    assert await other.get_memory_records([told.record_id]) == [told]


@promise
async def what_a_session_was_told_comes_back(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    told: list[ToldId] = [record(1).record_id, BRIEF]
    await transact_one(storage, lambda tx: tx.put_told(MINE, "s", told, prompt_number=3))
    other = InMemoryStorage()
    await restore(other, *await kept(storage))
    assert await other.list_told() == await storage.list_told() != []
    assert await kept(other) == await kept(storage)


@promise
async def names_merges_and_pauses_come_back(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await put_record(storage, record(2, namespace=OTHERS))

    def work(transaction: StorageTransaction) -> None:
        transaction.rename_project(MINE, "shop")
        transaction.begin_merge(OTHERS, MINE)
        while transaction.merge_some(OTHERS, limit=9):
            pass
        transaction.put_pause(Pause(MINE, None, at(1)))
        transaction.put_pause(Pause(MINE, "s", at(2)))

    await transact_one(storage, work)
    pieces = await kept(storage)
    other = InMemoryStorage()
    await restore(other, *pieces)
    assert await kept(other) == pieces
    assert await other.list_merged() == {OTHERS: MINE}
    assert await other.list_project_names() == {MINE: "shop"}
    assert await other.list_pauses() == [Pause(MINE, None, at(1)), Pause(MINE, "s", at(2))]
    assert Restored.STORED not in await restore(other, *pieces[2:])


@promise
async def what_is_merged_into_a_merged_project_is_part_of_what_that_one_is_part_of(storage: StorageBackend) -> None:
    third = namespace_of("ann", "c" * 64)

    def work(transaction: StorageTransaction) -> None:
        transaction.begin_merge(OTHERS, MINE)
        transaction.begin_merge(third, OTHERS)

    await transact_one(storage, work)
    assert await storage.list_merged() == {OTHERS: MINE, third: MINE}
    other = InMemoryStorage()
    await restore(other, *await kept(storage))
    assert await other.list_merged() == await storage.list_merged()


@promise
async def a_memory_that_comes_to_a_merged_project_is_kept_where_that_one_went(storage: StorageBackend) -> None:
    """The caller may have looked up the project before the merge."""
    await transact_one(storage, lambda tx: tx.begin_merge(OTHERS, MINE))
    await put_record(storage, record(1, namespace=OTHERS))
    [kept_record] = await storage.get_memory_records([record(1).record_id])
    assert kept_record == record(1, namespace=MINE)
    other = InMemoryStorage()
    await restore(other, *await kept(storage))
    assert await kept(other) == await kept(storage)


@promise
async def the_first_folder_that_is_noted_of_a_project_is_shown(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    for folder in ("/home/ada/shop", "/home/ada/other"):
        await transact_one(storage, lambda tx, folder=folder: tx.note_folder(MINE, folder))  # type: ignore[misc]  # mypy cannot infer it
    assert [each.folder for each in await storage.list_projects()] == ["/home/ada/shop"]


@promise
async def no_two_projects_have_one_name(storage: StorageBackend) -> None:
    await transact_one(storage, lambda tx: tx.rename_project(MINE, "shop"))
    with pytest.raises(InvalidRequest, match="no other project"):
        await transact_one(storage, lambda tx: tx.rename_project(OTHERS, "shop"))
    await transact_one(storage, lambda tx: tx.rename_project(MINE, "shop"))
    assert await storage.list_project_names() == {MINE: "shop"}


@promise
async def a_project_with_memories_here_is_not_merged_by_an_import(storage: StorageBackend) -> None:
    await put_record(storage, record(1, namespace=OTHERS))
    await transact_one(storage, lambda tx: tx.rename_project(OTHERS, "shop"))
    with pytest.raises(StorageError, match="memories of its own here"):
        await restore(storage, StoredMerge(source=OTHERS, target=MINE))
    await restore(storage, StoredProject(namespace=MINE, name="shop"), StoredProject(namespace=OTHERS, name="web"))
    assert await storage.list_project_names() == {OTHERS: "shop"}
    assert await storage.list_merged() == {}


@promise
async def what_waits_and_what_is_set_aside_does_so_in_the_other_store(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        waiting = event(number, kind=EventKind.NOTE)
        await transact_one(storage, lambda tx, each=waiting: tx.put_event(each, buffered=True))  # type: ignore[misc]  # a default of a lambda
    await put_event(storage, event(4))
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=1))
    pieces = await kept(storage, "event")
    assert [piece.waits for piece in pieces if isinstance(piece, StoredEvent)] == ["parked", "waiting", "waiting", None]
    other = InMemoryStorage()
    await restore(other, *pieces)
    snapshot = await other.snapshot_buffer(MINE, most_bytes=10_000)
    assert [each.event_id for each in snapshot.events] == [event_id(2), event_id(3)]
    assert (await other.get_buffer_size(MINE)).parked_event_count == 1


@promise
async def what_refers_to_nothing_is_refused_by_itself(storage: StorageBackend) -> None:
    with pytest.raises(StorageError, match="an entity that it names is not there"):
        await restore(storage, fact(1, KIRA))
    with pytest.raises(StorageError, match="another kind of item"):
        await restore(storage, attrs.evolve(KIRA, item_id=item_id(GraphKind.FACT, 1)))
    await put_record(storage, record(1))
    await merge(storage, 2, 1)
    gone = StoredReplaced(
        replacement_id="replacement 2",
        reason=ReplacementReason.MERGED,
        replaced_at=DAWN,
        replacing=(record(2).record_id,),
        memory=StoredMemory(record=record(3, namespace=OTHERS)),
    )
    with pytest.raises(StorageError, match="of another project"):
        await restore(storage, gone)


@promise
async def an_event_that_was_removed_here_stays_away_with_what_was_learned_from_it(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_record(storage, record(1))
    before = await kept(storage)
    await transact_one(
        storage, lambda tx: tx.doom(Selected(event_ids=(event_id(1),), record_ids=(record(1).record_id,)))
    )
    await transact_one(storage, lambda tx: tx.forget_doomed(limit=9))
    await transact_one(storage, lambda tx: tx.forget_doomed(limit=9))
    assert (await restore(storage, *before))[1:] == [Restored.FORGOTTEN, Restored.FORGOTTEN]
    other = InMemoryStorage()
    await restore(other, *await kept(storage))
    assert (await restore(other, *before))[1:] == [Restored.FORGOTTEN, Restored.FORGOTTEN]
