from __future__ import annotations

import attrs
import pytest

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot
from kiro_learn.model.event import EventKind, JsonBody, Source, TextBody, body_bytes
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import put_event, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, event, event_id
from tests.unit.storage.contract import promise


@promise
async def a_compaction_stands_in_the_place_of_its_events(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    through = (await _taken(storage)).through
    await _buffer(storage, 4)
    dense = [_dense(101, 1, 2, size_bytes=4), _dense(102, 3, size_bytes=5)]
    await _compact(storage, dense, through=through)
    taken = await _taken(storage)
    assert [(entry.event, entry.stands_for, entry.size_bytes) for entry in taken.entries] == [
        (dense[0].event, (event_id(1), event_id(2)), 4),
        (dense[1].event, (event_id(3),), 5),
        (event(4), (), 10),
    ]
    assert [entry.position for entry in taken.entries] == sorted({entry.position for entry in taken.entries})
    assert taken.entries[1].position == through
    assert await storage.list_buffers() == {MINE: BufferSize(4, 19)}
    assert (taken.event_count, taken.size_bytes) == (4, 19)


@promise
async def a_compaction_comes_back_as_it_was_put_and_is_no_stored_event(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    odd = event(
        101,
        body=JsonBody({"text": "ünï\x00", "lone": "\ud800", "n": [1, None, 1.5]}),
        source=Source(surface="kiro-cli", version="1", client_id="c", project_path="/home/ann/w"),
        parent_event_id=event_id(9),
        content_hash="sha256:" + "0" * 64,
    )
    await _compact(storage, [BufferedEvent(odd, 0, 7, (event_id(1),))], through=99)
    assert (await _taken(storage)).events == (odd,)
    assert await storage.get_event_by_id(event_id(101)) is None
    assert (await storage.list_events(namespace=MINE, limit=9, cursor=None)).total == 1


@promise
async def events_and_compactions_may_stay_as_they_are(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    await _compact(storage, [_dense(101, 1, 2)], through=2)
    before = (await _taken(storage)).entries
    await _compact(storage, before, through=99)
    assert (await _taken(storage)).entries == before
    await _compact(storage, before[1:], through=99)
    assert (await _taken(storage)).entries == before[1:]


@promise
async def an_event_that_stays_is_the_stored_one(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    await _compact(storage, [BufferedEvent(event(1, body=TextBody("another")), 0, 3)], through=99)
    assert (await _taken(storage)).events == (event(1),)


@promise
async def what_arrives_after_a_compaction_comes_after_it_and_outlives_its_clearing(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2)
    await _compact(storage, [_dense(101, 1, 2)], through=99)
    through = (await _taken(storage)).through
    await _buffer(storage, 3)
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=through))
    assert (await _taken(storage)).events == (event(3),)


@promise
async def whether_entries_still_wait_is_known_when_they_are_cleared(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    first, second, third = [entry.position for entry in (await _taken(storage)).entries]

    async def are_waiting(*positions: int) -> bool:
        return await transact_one(storage, lambda tx: tx.are_waiting(MINE, positions))

    assert await are_waiting()
    assert await are_waiting(first, second, third)
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=first))
    assert not await are_waiting(first, second)
    assert await are_waiting(second, third)
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=second))
    assert not await are_waiting(second, third)
    assert await are_waiting(third)
    assert not await transact_one(storage, lambda tx: tx.are_waiting(OTHERS, [third]))


@promise
async def entries_that_do_not_stand_for_what_waits_are_refused(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    foreign = _dense(101, 1)
    for strange in (
        [_dense(101, 1), _dense(102, 2), _dense(103, 2)],
        [_dense(101, 9)],
        [_dense(101, 3)],
        [BufferedEvent(event(3), 0, 1)],
        [BufferedEvent(event(1), 0, 1), BufferedEvent(event(1), 0, 1)],
        [attrs.evolve(foreign, event=event(101, namespace=OTHERS))],
    ):
        with pytest.raises(InvalidRequest):
            await _compact(storage, strange, through=2)
    assert (await _taken(storage)).events == (event(1), event(2), event(3))


@promise
async def what_is_parked_waits_no_more_until_it_is_unparked(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2)
    await _compact(storage, [_dense(101, 1, 2, size_bytes=6)], through=99)
    await _buffer(storage, 3)
    through = (await _taken(storage)).through
    await _buffer(storage, 4)
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=through))
    assert (await _taken(storage)).events == (event(4),)
    assert await storage.list_buffers() == {MINE: BufferSize(1, 10, parked_event_count=3)}
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=99))
    assert await storage.list_buffers() == {MINE: BufferSize(0, 0, parked_event_count=3)}
    first = await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=1))
    assert first == BufferSize(2, 6, parked_event_count=1)
    assert (await _taken(storage)).source_event_ids == (event_id(1), event_id(2))
    rest = await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=99))
    assert rest == BufferSize(3, 16)
    assert (await _taken(storage)).source_event_ids == (event_id(1), event_id(2), event_id(3))


@promise
async def as_many_are_unparked_as_fit_oldest_first(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=99))
    await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=25))
    assert (await _taken(storage)).events == (event(1), event(2))


@promise
async def unparking_where_nothing_is_parked_changes_nothing(storage: StorageBackend) -> None:
    assert await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=99)) == BufferSize()
    await _buffer(storage, 1)
    assert await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=99)) == BufferSize(1, 10)


@promise
async def compacting_leaves_what_is_parked(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=99))
    await _buffer(storage, 2)
    await _compact(storage, [_dense(101, 2, size_bytes=3)], through=99)
    assert await storage.list_buffers() == {MINE: BufferSize(1, 3, parked_event_count=1)}


@promise
async def parking_and_compacting_leave_other_projects_alone(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    await transact_one(storage, lambda tx: tx.put_event(event(2, namespace=OTHERS), size_bytes=7, buffered=True))
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=99))
    assert await storage.list_buffers() == {MINE: BufferSize(0, 0, 1), OTHERS: BufferSize(1, 7)}
    assert await storage.get_buffer_size(MINE) == BufferSize(0, 0, 1)
    assert await storage.get_buffer_size(OTHERS) == BufferSize(1, 7)
    await transact_one(storage, lambda tx: tx.park_buffer(OTHERS, through=99))
    await transact_one(storage, lambda tx: tx.unpark_buffer(MINE, most_bytes=99))
    assert await storage.list_buffers() == {MINE: BufferSize(1, 10), OTHERS: BufferSize(0, 0, 1)}


@promise
async def a_compaction_knows_the_prompts_from_before_its_first_event(storage: StorageBackend) -> None:
    """The compaction replaces events 2 to 4 of the session. Event 1 is the prompt before them; event 5 comes later."""
    await put_event(storage, event(1))
    await _buffer(storage, 2, 3, 4)
    await _compact(storage, [_dense(101, 2, 3, 4)], through=99)
    await _buffer(storage, 5)
    assert (await _taken(storage)).earlier_prompts == (event(1),)


@promise
async def stored_events_can_be_taken_again_as_if_they_waited(storage: StorageBackend) -> None:
    for number in (3, 1, 2):
        await put_event(storage, event(number))
    await put_event(storage, event(9, namespace=OTHERS))
    taken = await _again(storage)
    assert taken.events == (event(3), event(1), event(2))
    assert [entry.size_bytes for entry in taken.entries] == [body_bytes(event(number).body) for number in (3, 1, 2)]
    assert (await _again(storage, since=at(2))).events == (event(3), event(2))
    assert (await _again(storage, after=event_id(3))).events == (event(1), event(2))
    assert (await _again(storage, after=event_id(2))).events == ()
    assert (await _again(storage, most_bytes=1)).events == (event(3),)


@promise
async def what_waits_or_is_parked_is_not_taken_again(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await _buffer(storage, 2)
    await transact_one(storage, lambda tx: tx.park_buffer(MINE, through=99))
    await _buffer(storage, 3, 4)
    await _compact(storage, [_dense(101, 3, 4)], through=99)
    assert (await _again(storage)).events == (event(1),)


@promise
async def an_event_to_go_on_after_is_one_of_the_project(storage: StorageBackend) -> None:
    await put_event(storage, event(1, namespace=OTHERS))
    for unknown in (event_id(1), event_id(7)):
        with pytest.raises(InvalidRequest):
            await _again(storage, after=unknown)


@promise
async def stored_events_know_the_prompts_before_them(storage: StorageBackend) -> None:
    for item in (event(1), event(2, kind=EventKind.TOOL_USE), event(3, session_id="other")):
        await put_event(storage, item)
    assert (await _again(storage, after=event_id(1))).earlier_prompts == (event(1),)


def _dense(number: int, *sources: int, size_bytes: int = 1) -> BufferedEvent:
    made = event(number, kind=EventKind.SESSION_SUMMARY, body=TextBody(f"about {sources}"))
    return BufferedEvent(made, 0, size_bytes, tuple(map(event_id, sources)))


async def _buffer(storage: StorageBackend, *numbers: int) -> None:
    def put(tx: StorageTransaction) -> None:
        for number in numbers:
            tx.put_event(event(number), size_bytes=10, buffered=True)

    await transact_one(storage, put)


async def _compact(
    storage: StorageBackend, entries: list[BufferedEvent] | tuple[BufferedEvent, ...], *, through: int
) -> None:
    await transact_one(storage, lambda tx: tx.compact_buffer(MINE, through=through, entries=entries))


async def _taken(storage: StorageBackend) -> BufferSnapshot:
    return await storage.snapshot_buffer(MINE, most_bytes=999)


async def _again(storage: StorageBackend, **values: object) -> BufferSnapshot:
    defaults: dict[str, object] = {"since": None, "after": None, "most_bytes": 999}
    return await storage.snapshot_events(MINE, **defaults | values)  # type: ignore[arg-type]  # each by its name
