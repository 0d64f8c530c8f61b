from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.buffer import BufferSize
from kiro_learn.model.event import Event, EventKind, JsonBody, MessageBody, Source, TextBody, Turn
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, project_id_in
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.testing.storage import delete_records, put_event, put_record, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, event, event_id, project, record, record_id
from tests.unit.storage.contract import promise


@promise
async def an_event_comes_back_as_it_was_put(storage: StorageBackend) -> None:
    for number, body in enumerate(
        (
            TextBody("ünï\ncödé \x00 end"),
            MessageBody((Turn("user", "a"), Turn("assistant", ""))),
            JsonBody({"tool_name": "x", "tool_input": [1, None, {"deep": 1.5}], "lone": "\ud800"}),
        )
    ):
        put = event(
            number,
            body=body,
            source=Source(surface="kiro-cli", version="1", client_id="c", project_path="/home/ann/w"),
            parent_event_id=event_id(99),
            content_hash="sha256:" + "0" * 64,
        )
        assert await put_event(storage, put)
        assert await storage.get_event_by_id(put.event_id) == put


@promise
async def what_looks_private_is_kept_as_it_was_put(storage: StorageBackend) -> None:
    """Redaction comes before the store; a store that redacted too would hide a caller that forgot to."""
    put = event(1, body=TextBody("a <private>b</private> password=" + "x7Gq" * 6))
    assert await put_event(storage, put)
    assert await storage.get_event_by_id(put.event_id) == put


@promise
async def a_repeat_of_an_event_changes_nothing(storage: StorageBackend) -> None:
    assert await put_event(storage, event(1, body=TextBody("first")))
    repeat = event(1, body=TextBody("second"), namespace=OTHERS)
    assert not await transact_one(storage, lambda tx: tx.put_event(repeat, size_bytes=5, buffered=True))
    assert await storage.get_event_by_id(event_id(1)) == event(1, body=TextBody("first"))
    assert await storage.list_buffers() == {}


def put_buffered(transaction: StorageTransaction, *, put: Event) -> int:
    return transaction.put_event(put, buffered=True)


@promise
async def an_event_that_says_no_size_counts_as_its_body_is_stored(storage: StorageBackend) -> None:
    bodies = ((TextBody("abc"), 31), (TextBody("ünï"), 33), (JsonBody({"a": "\ud800"}), 37), (JsonBody([1.5]), 28))
    for number, (body, size) in enumerate(bodies):
        buffering = partial(put_buffered, put=event(number, body=body))
        assert await transact_one(storage, buffering) == size
        assert await transact_one(storage, buffering) == 0
    assert (await storage.snapshot_buffer(MINE, most_bytes=999)).size_bytes == sum(size for _, size in bodies)


@promise
async def an_unknown_event_is_none(storage: StorageBackend) -> None:
    assert await storage.get_event_by_id(event_id(1)) is None


@promise
async def events_are_listed_newest_first_page_by_page(storage: StorageBackend) -> None:
    for number, minute in ((1, 5), (2, 7), (3, 5), (4, 1)):
        await put_event(storage, event(number, valid_time=at(minute)))
    await put_event(storage, event(9, namespace=OTHERS))
    first = await storage.list_events(namespace=MINE, limit=2, cursor=None)
    second = await storage.list_events(namespace=MINE, limit=2, cursor=first.next_cursor)
    assert [item.event_id for item in first.items + second.items] == [event_id(n) for n in (2, 3, 1, 4)]
    assert (first.total, second.next_cursor) == (4, None)
    assert (await storage.list_events(namespace=None, limit=9, cursor=None)).total == 5


@promise
async def a_cursor_stands_between_events_that_come_later(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_event(storage, event(2))
    page = await storage.list_events(namespace=MINE, limit=1, cursor=None)
    await put_event(storage, event(3))
    rest = await storage.list_events(namespace=MINE, limit=9, cursor=page.next_cursor)
    assert [item.event_id for item in rest.items] == [event_id(1)]


@promise
async def a_strange_cursor_is_refused(storage: StorageBackend) -> None:
    for cursor in ("", "x", "bm9uZQ==", "WzFd", "é"):
        with pytest.raises(InvalidRequest):
            await storage.list_events(namespace=None, limit=1, cursor=cursor)


@promise
async def a_snapshot_is_a_prefix_that_fits_but_at_least_one(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2, 3)
    fitting = await storage.snapshot_buffer(MINE, most_bytes=25)
    assert [item.event_id for item in fitting.events] == [event_id(1), event_id(2)]
    assert fitting.size_bytes == 20
    assert [item.event_id for item in (await storage.snapshot_buffer(MINE, most_bytes=1)).events] == [event_id(1)]


@promise
async def what_arrives_after_a_snapshot_stays_when_it_is_cleared(storage: StorageBackend) -> None:
    await _buffer(storage, 1, 2)
    taken = await storage.snapshot_buffer(MINE, most_bytes=99)
    await _buffer(storage, 3)
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=taken.through))
    left = await storage.snapshot_buffer(MINE, most_bytes=99)
    assert [item.event_id for item in left.events] == [event_id(3)]
    assert left.through > taken.through


@promise
async def a_position_is_never_given_twice(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    taken = await storage.snapshot_buffer(MINE, most_bytes=99)
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=taken.through))
    await _buffer(storage, 2)
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=taken.through))
    assert len((await storage.snapshot_buffer(MINE, most_bytes=99)).events) == 1


@promise
async def clearing_one_project_leaves_the_others(storage: StorageBackend) -> None:
    await _buffer(storage, 1)
    await transact_one(storage, lambda tx: tx.put_event(event(2, namespace=OTHERS), size_bytes=7, buffered=True))
    assert await storage.list_buffers() == {MINE: BufferSize(1, 10), OTHERS: BufferSize(1, 7)}
    await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=99))
    assert await storage.list_buffers() == {OTHERS: BufferSize(1, 7)}


@promise
async def an_empty_buffer_has_an_empty_snapshot(storage: StorageBackend) -> None:
    taken = await storage.snapshot_buffer(MINE, most_bytes=99)
    assert (taken.events, taken.earlier_prompts, taken.through, taken.size_bytes) == ((), (), 0, 0)


@promise
async def a_snapshot_knows_the_prompts_that_had_no_final_answer_yet(storage: StorageBackend) -> None:
    """Of seven open prompts of this session it has the last five, and the open one of another; no answered one."""
    answered = [event(1), event(2, kind=EventKind.SESSION_SUMMARY)]
    open_ones = [event(number) for number in range(3, 10)]
    elsewhere = [event(20, session_id="other"), event(21, session_id="third"), event(22, namespace=OTHERS)]
    noise = [event(23, kind=EventKind.TOOL_USE)]
    for item in (*answered, *open_ones, *elsewhere, *noise):
        await put_event(storage, item)
    waiting = [event(30, kind=EventKind.TOOL_USE), event(31), event(32, session_id="other", kind=EventKind.NOTE)]

    def buffer(tx: StorageTransaction) -> None:
        for item in waiting:
            tx.put_event(item, size_bytes=1, buffered=True)

    await transact_one(storage, buffer)
    taken = await storage.snapshot_buffer(MINE, most_bytes=99)
    assert list(taken.events) == waiting
    assert list(taken.earlier_prompts) == [*open_ones[-5:], elsewhere[0]]


@promise
async def projects_are_named_by_their_newest_folder_and_listed_by_events(storage: StorageBackend) -> None:
    def path(folder: str | None) -> Source:
        return Source(surface="api", version="1", client_id="c", project_path=folder)

    await put_event(storage, event(1, valid_time=at(9), source=path("/home/ann/new")))
    await put_event(storage, event(2, valid_time=at(3), source=path("/home/ann/old")))
    await put_event(storage, event(3, valid_time=at(10), source=path(None)))
    await put_event(storage, event(4, namespace=OTHERS, source=path("/srv/app")))
    await put_record(storage, record(1, namespace=project("c" * 64)))
    listed = await storage.list_projects()
    assert [(item.display_name, item.event_count, item.memory_count, item.last_event_at) for item in listed] == [
        ("new", 3, 0, at(10)),
        ("/srv/app", 1, 0, at(4)),
        ("c" * 12, 0, 1, None),
    ]
    assert [item.namespace for item in listed] == [MINE, OTHERS, project("c" * 64)]
    assert [item.project_id for item in listed] == [project_id_in(item.namespace) for item in listed]


@promise
async def a_project_is_as_large_as_its_events_its_records_and_what_they_replaced(storage: StorageBackend) -> None:
    assert await storage.get_project_sizes() == {}
    await put_event(storage, event(1, body=TextBody("x" * 1000)))
    one = (await storage.get_project_sizes())[MINE]
    await put_event(storage, event(2, body=TextBody("é" * 1000)))
    assert (await storage.get_project_sizes())[MINE] == 2 * one + 1000  # bytes, not characters
    await put_record(storage, record(1, namespace=OTHERS, summary="y" * 100))
    alone = (await storage.get_project_sizes())[OTHERS]
    assert alone > 100
    await put_record(storage, record(2, namespace=OTHERS, summary="y" * 300))
    assert (await storage.get_project_sizes())[OTHERS] == 2 * alone + 200
    await delete_records(storage, [record_id(1)])
    assert (await storage.get_project_sizes())[OTHERS] == alone + 200


@promise
async def a_folder_is_looked_for_among_the_newest_events_only(storage: StorageBackend) -> None:
    """Listing projects reads few events, even of a project with many events without a folder."""
    source = Source(surface="api", version="1", client_id="c", project_path="/srv/app")

    async def put(numbers: Iterable[int]) -> None:
        def put_all(tx: StorageTransaction) -> None:
            for number in numbers:
                tx.put_event(event(number), size_bytes=10, buffered=False)

        await transact_one(storage, put_all)

    async def name() -> str:
        (listed,) = await storage.list_projects()
        return listed.display_name

    await put_event(storage, event(0, source=source))
    await put(range(1, EVENTS_WITH_FOLDER))
    assert await name() == "/srv/app"
    await put([EVENTS_WITH_FOLDER])
    assert await name() == project_id_in(MINE)[:12]


async def _buffer(storage: StorageBackend, *numbers: int) -> None:
    def put(tx: StorageTransaction) -> None:
        for number in numbers:
            tx.put_event(event(number), size_bytes=10, buffered=True)

    await transact_one(storage, put)
