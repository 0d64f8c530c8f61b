"""Several stores on one database know each other's commits, and take turns."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import trio

from kiro_learn.errors import StorageBusy, StorageError, StorageUnavailable
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, ModelIdentity
from kiro_learn.ports.storage.answers import (
    Change,
    GraphChanged,
    ModelSwitched,
    RecordEmbedded,
    RecordRemoved,
    RecordStored,
    SearchParams,
)
from kiro_learn.retrieval.kept_texts import kept
from kiro_learn.testing.storage import put_event, put_record, transact_one
from tests.integration.storage.test_postgres import cut_off
from tests.postgres import PostgresForTests, postgres_server
from tests.unit.storage.builders import DAWN, MINE, event, event_id, record, record_id


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresForTests]:
    with postgres_server() as running:
        yield running


def run(server: PostgresForTests, scenario: Callable[[Any, Any], Awaitable[None]]) -> None:
    async def main() -> None:
        one = await server.open(utc_now=lambda: DAWN)
        other = await server.open_again(utc_now=lambda: DAWN)
        try:
            with trio.fail_after(120):
                await scenario(one, other)
        finally:
            await one.close()
            await other.close()

    trio.run(main)


async def put_vector(store: Any, number: int) -> None:
    vector = np.full((1, DIMENSION), number, np.float32)
    await transact_one(store, lambda tx: tx.put_embedding(record_id(number), vector))


async def followed(store: Any, count: int) -> Sequence[Change]:
    """Wait for at least ``count`` changes of others; returns all that came."""
    changes: list[Change] = []
    while len(changes) < count:
        changes += await store.follow_others()
    return changes


def test_what_one_daemon_commits_the_other_is_told_and_it_not(server: PostgresForTests) -> None:
    async def scenario(one: Any, other: Any) -> None:
        await put_record(one, record(1, "word"))
        await put_vector(one, 1)
        stored, embedded = await followed(other, 2)
        assert stored == RecordStored(MINE, record_id(1))
        assert isinstance(embedded, RecordEmbedded)
        assert (embedded.record_id, embedded.parts.tolist()) == (record_id(1), [[1.0] * DIMENSION])
        await transact_one(other, lambda tx: tx.delete_memory_record([record_id(1)]))
        assert await followed(one, 1) == [RecordRemoved(MINE, record_id(1))], "and nothing of its own"

    run(server, scenario)


def test_every_kind_of_change_is_told_as_it_was(server: PostgresForTests) -> None:
    from kiro_learn.adapters.postgres.others import encoded  # noqa: PLC0415  # where the client is

    changes: list[Change] = [
        RecordStored(MINE, record_id(1)),
        RecordRemoved(MINE, record_id(2)),
        ModelSwitched(MINE, ModelIdentity("another", "d" * 64, 768)),
        GraphChanged(MINE),
        GraphChanged(MINE, (GraphItemId("fa_1"), GraphItemId("en_2"))),
        RecordEmbedded(MINE, record_id(3), DAWN, np.ones((1, DIMENSION), np.float32)),
    ]

    async def scenario(one: Any, _other: Any) -> None:
        put = "INSERT INTO kiro_learn.commits (daemon, changes) VALUES ('third', %s)"
        await trio.to_thread.run_sync(server.admin.execute, put, [f'[["of a newer version", "{MINE}", 1]]'])
        await trio.to_thread.run_sync(server.admin.execute, put, [encoded(changes)])
        assert await followed(one, 5) == changes[:5], "the record of the vector is gone by now"

    run(server, scenario)


def test_changes_whose_reading_was_cut_off_are_told_by_the_next(
    server: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(one: Any, other: Any) -> None:
        await put_record(one, record(1, "word"))
        await put_vector(one, 1)
        with monkeypatch.context() as patched:
            patched.setattr(other._commits, "_embedded", fail)
            with pytest.raises(StorageUnavailable):
                await other.follow_others()
        assert [type(change) for change in await followed(other, 2)] == [RecordStored, RecordEmbedded]

    def fail(_record_ids: object) -> None:
        raise StorageUnavailable("team")

    run(server, scenario)


def test_more_commits_than_are_read_at_once_are_told_in_order(server: PostgresForTests) -> None:
    async def scenario(one: Any, _other: Any) -> None:
        many = """
            INSERT INTO kiro_learn.commits (daemon, changes)
            SELECT 'third', json_build_array(json_build_array('stored', %s::text, 'mr_' || n))
              FROM generate_series(1, 1200) AS n
        """
        await trio.to_thread.run_sync(server.admin.execute, many, [MINE])
        told = [RecordStored(MINE, RecordId(f"mr_{number}")) for number in range(1, 1201)]
        assert await followed(one, 1200) == told

    run(server, scenario)


def test_what_is_old_is_trimmed_once_a_day(server: PostgresForTests, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(one: Any, other: Any) -> None:
        await put_record(one, record(1, "word"))
        for table in ("commits", "words_changed"):
            old = f"UPDATE kiro_learn.{table} SET at = at - interval '8 days'"  # noqa: S608  # of two names
            await trio.to_thread.run_sync(server.admin.execute, old)
        await put_record(one, record(2, "word"))
        monkeypatch.setattr("kiro_learn.adapters.postgres.others.SECONDS_BETWEEN_TRIMS", -1.0)
        assert await followed(other, 1) == [RecordStored(MINE, record_id(2))]
        for table in ("commits", "words_changed"):
            count = f"SELECT count(*) FROM kiro_learn.{table}"  # noqa: S608  # of two names
            assert server.admin.execute(count).fetchone() == (1,)

    run(server, scenario)


def test_no_text_that_another_daemon_forgot_is_kept(server: PostgresForTests) -> None:
    read: list[str] = []
    counted = kept(10)(read.append)

    async def scenario(one: Any, other: Any) -> None:
        await put_record(one, record(1, "a word"))
        await transact_one(one, lambda tx: tx.delete_memory_record([record_id(1)]))
        counted("a word")
        counted("a word")
        await followed(other, 2)
        counted("a word")
        assert len(read) == 2

    run(server, scenario)


def test_who_waits_is_woken_by_a_commit(server: PostgresForTests) -> None:
    """It is woken long before it would look by itself, after half a minute."""

    async def scenario(one: Any, other: Any) -> None:
        await other.follow_others()  # the first time, it looks at once
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(followed, other, 1)
                await trio.sleep(0.2)
                await put_record(one, record(1, "word"))

    run(server, scenario)


def test_what_was_committed_while_a_daemon_was_cut_off_is_told_afterwards(server: PostgresForTests) -> None:
    async def scenario(one: Any, other: Any) -> None:
        assert await other.follow_others() == []
        await trio.to_thread.run_sync(cut_off, server)
        await put_record(one, record(1, "word"))
        with pytest.raises(StorageError):
            await followed(other, 1)  # on a closed connection
        assert await followed(other, 1) == [RecordStored(MINE, record_id(1))]
        await put_event(other, event(1))
        assert await one.get_event_by_id(event_id(1)) == event(1)

    run(server, scenario)


def test_a_daemon_that_was_cut_off_for_days_says_that_it_has_to_start_again(
    server: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(_one: Any, other: Any) -> None:
        monkeypatch.setattr("kiro_learn.adapters.postgres.others.SAFE_SECONDS", -1.0)
        with pytest.raises(StorageError, match="cut off from the database for days") as refused:
            await other.follow_others()
        assert refused.value.hint.startswith("kiro-learn restart")

    run(server, scenario)


def test_words_of_another_daemon_are_found_at_once(server: PostgresForTests) -> None:
    async def found(store: Any) -> list[str]:
        return [hit.record_id for hit in (await store.rank_by_words(SearchParams(MINE, "word", 10))).hits]

    async def scenario(one: Any, other: Any) -> None:
        assert await found(one) == await found(other) == []
        await put_record(one, record(1, "word"))
        assert await found(other) == [record_id(1)]
        await transact_one(other, lambda tx: tx.delete_memory_record([record_id(1)]))
        assert await found(one) == []

    run(server, scenario)


def test_words_are_read_anew_when_what_changed_is_known_no_more(
    server: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(one: Any, other: Any) -> None:
        await put_record(one, record(1, "word"))
        asked = SearchParams(MINE, "word", 10)
        assert (await other.rank_by_words(asked)).hits
        await put_record(one, record(2, "word"))
        await trio.to_thread.run_sync(server.admin.execute, "DELETE FROM kiro_learn.words_changed")
        monkeypatch.setattr("kiro_learn.adapters.postgres.words.SAFE_SECONDS", -1.0)
        assert {hit.record_id for hit in (await other.rank_by_words(asked)).hits} == {record_id(1), record_id(2)}

    run(server, scenario)


def test_one_daemon_at_a_time_has_a_turn(server: PostgresForTests) -> None:
    async def scenario(one: Any, other: Any) -> None:
        async with one.turn("learning") as is_ours:
            assert is_ours
            async with (
                other.turn("learning") as is_theirs,
                other.turn("another") as is_free,
                one.turn("learning") as two,
            ):
                assert (is_theirs, is_free, two) == (False, True, False)
        async with other.turn("learning") as is_theirs:
            assert is_theirs

    run(server, scenario)


def test_a_turn_ends_with_its_daemon(server: PostgresForTests) -> None:
    async def scenario(one: Any, other: Any) -> None:
        async with one.turn("learning"):
            async with other.turn("learning") as is_theirs:
                assert not is_theirs
            await trio.to_thread.run_sync(cut_off, server)
            async with other.turn("learning") as is_theirs:
                assert is_theirs
        async with one.turn("learning") as is_ours:
            assert is_ours

    run(server, scenario)


def test_daemons_that_write_at_once_write_one_after_the_other(server: PostgresForTests) -> None:
    """Each reads before it writes: the number of a project or of a record in it is given only once."""

    async def scenario(one: Any, other: Any) -> None:
        async def put_all(store: Any, numbers: Sequence[int]) -> None:
            for number in numbers:
                await put_record(store, record(number, f"word {number}"))
                await put_event(store, event(number))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(put_all, one, range(1, 40))
            nursery.start_soon(put_all, other, range(40, 80))
        page = await one.list_memory_records(namespace=MINE, limit=1000, offset=0)
        assert {each.record_id for each in page.items} == {record_id(number) for number in range(1, 80)}

    run(server, scenario)


def test_a_daemon_that_falls_asleep_in_a_transaction_holds_up_the_others_for_a_while_only(
    server: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiro_learn.adapters.postgres.storage.LONGEST_PAUSE", "700ms")
    asleep, awake = threading.Event(), threading.Event()

    def fall_asleep(transaction: Any) -> None:
        transaction.put_event(event(1), buffered=True)
        asleep.set()
        awake.wait(60)

    async def scenario(one: Any, other: Any) -> None:
        async def write() -> None:
            with pytest.raises(StorageUnavailable):
                await one.transact([fall_asleep])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(write)
            await trio.to_thread.run_sync(asleep.wait)
            await put_event(other, event(2))
            awake.set()
        assert await other.get_event_by_id(event_id(1)) is None
        await put_event(one, event(1))
        assert await other.get_event_by_id(event_id(1)) == event(1)

    run(server, scenario)


def test_no_memory_is_moved_while_a_daemon_uses_the_database(server: PostgresForTests) -> None:
    from kiro_learn.adapters.postgres.moving import PostgresSide  # noqa: PLC0415  # where the client is

    async def scenario(one: Any, other: Any) -> None:
        await one.close()
        with pytest.raises(StorageBusy, match="a daemon uses"):
            await trio.to_thread.run_sync(PostgresSide, server.url)
        await other.close()
        side = await trio.to_thread.run_sync(PostgresSide, server.url)
        with pytest.raises(StorageBusy, match="cannot be used now"):
            await server.open_again(utc_now=lambda: DAWN)
        side.connection.close()

    run(server, scenario)
