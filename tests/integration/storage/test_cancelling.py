"""SQLite's work after its caller was cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from kiro_learn.adapters.sqlite.connections import STEPS_BETWEEN_CANCEL_CHECKS, Readers
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageError, StorageUnavailable
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import put_event, put_record
from tests.unit.storage.builders import DAWN, MINE, event, event_id, record

FOREVER = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def run_for_ever(connection: apsw.Connection) -> object:
    return connection.execute(FOREVER).get


async def open_at(path: Path, *, reader_count: int = 1) -> SqliteStorage:
    config = StorageConfig(reader_count=reader_count)
    return await open_sqlite_storage(path / "test.db", config, utc_now=lambda: DAWN)


def test_a_read_that_is_cancelled_is_interrupted_and_frees_its_connection(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path)
        await put_record(storage, record(1, "pool"))
        for _ in range(3):
            with trio.fail_after(5), trio.move_on_after(0.05) as patience:
                await storage.readers.read(run_for_ever)
            assert patience.cancelled_caught
        with trio.fail_after(5):
            assert (await storage.rank_by_words(SearchParams(MINE, "pool", 1))).hits
        await storage.close()

    trio.run(scenario)


def test_a_connection_is_as_good_as_new_at_whatever_step_its_query_was_cancelled(tmp_path: Path) -> None:
    """SQLite counts the steps between two checks over all runs of a statement, a COMMIT's too."""

    async def scenario() -> None:
        storage = await open_at(tmp_path)
        for _ in range(STEPS_BETWEEN_CANCEL_CHECKS):
            with trio.CancelScope() as scope:
                await storage.readers.read(cancelling(scope))
        assert await storage.list_runs(1) == []
        await storage.close()

    def cancelling(scope: trio.CancelScope) -> Callable[[apsw.Connection], object]:
        def query(connection: apsw.Connection) -> object:
            trio.from_thread.run_sync(scope.cancel)
            return connection.execute("SELECT count(*) FROM sqlite_schema").get

        return query

    trio.run(scenario)


def test_a_read_that_is_stopped_inside_sqlite_holds_only_its_own_connection(tmp_path: Path) -> None:
    """As with a locked -shm file or a slow disk, where SQLite does not check for a cancellation."""
    release = threading.Event()
    users: list[apsw.Connection] = []

    def stopped(connection: apsw.Connection) -> None:
        users.append(connection)
        release.wait(5)
        users.remove(connection)

    def count_users(connection: apsw.Connection) -> int:
        return users.count(connection)

    async def scenario() -> float:
        storage = await open_at(tmp_path, reader_count=2)
        began = trio.current_time()
        with trio.move_on_after(0.05):
            await storage.readers.read(stopped)
        took = trio.current_time() - began
        for _ in range(3):
            assert await storage.readers.read(count_users) == 0, "a connection is lent to one query at a time"
        release.set()
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(storage.list_runs, 1)
            await storage.close()
        return took

    assert trio.run(scenario) < 2.5, "the thread keeps it for five seconds"


class FailsOnce(apsw.Connection):
    """A connection whose first COMMIT fails, as without room for temporary files, and leaves the transaction open."""

    has_failed = False

    def execute(self, statements: str, *rest: object, **options: object) -> apsw.Cursor:
        if statements == "COMMIT" and not self.has_failed:
            self.has_failed = True
            raise apsw.FullError("database or disk is full")
        return super().execute(statements, *rest, **options)  # type: ignore[arg-type]  # only handed on


def test_a_connection_whose_transaction_could_not_be_ended_begins_the_next_one_anew(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        writer = apsw.Connection(str(path))
        writer.pragma("journal_mode", "wal")
        writer.execute("CREATE TABLE numbers (number INTEGER)")
        readers = Readers(path, [FailsOnce(str(path), flags=apsw.SQLITE_OPEN_READONLY)])
        with pytest.raises(StorageError):
            await readers.read(count)
        writer.execute("INSERT INTO numbers VALUES (1)")
        assert await readers.read(count) == 1
        await readers.close()

    def count(connection: apsw.Connection) -> object:
        return connection.execute("SELECT count(*) FROM numbers").get

    trio.run(scenario)


def test_who_waits_for_a_connection_may_leave_without_taking_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path)
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(storage.readers.read, run_for_ever)
                await wait_all_tasks_blocked()
                with trio.move_on_after(0.02) as patience:
                    await storage.list_runs(1)
                assert patience.cancelled_caught
                nursery.cancel_scope.cancel()
            assert await storage.list_runs(1) == []
        await storage.close()

    trio.run(scenario)


def test_a_write_that_is_cancelled_under_way_is_wholly_done(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path)

        def slow(tx: StorageTransaction) -> None:
            for number in range(2_000):
                tx.put_event(event(number), size_bytes=1, buffered=True)
            trio.from_thread.run_sync(nursery.cancel_scope.cancel)

        async with trio.open_nursery() as nursery:
            await storage.transact([slow])
        assert (await storage.list_events(namespace=MINE, limit=1, cursor=None)).total == 2_000
        assert await put_event(storage, event(9_999))
        await storage.close()

    trio.run(scenario)


def test_a_write_that_is_cancelled_before_its_turn_is_not_done_at_all(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path)
        with trio.CancelScope() as scope:
            scope.cancel()
            await put_event(storage, event(1))
        assert await storage.get_event_by_id(event_id(1)) is None
        await storage.close()

    trio.run(scenario)


def test_a_slow_read_does_not_hold_up_a_prompt(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path, reader_count=2)
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(storage.readers.read, run_for_ever)
                assert await storage.list_runs(1) == []
                assert await put_event(storage, event(1)), "nor does it hold up a write"
                nursery.cancel_scope.cancel()
        await storage.close()

    trio.run(scenario)


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path)
        with pytest.raises(StorageUnavailable):
            await storage.readers.read(lambda connection: connection.execute("DELETE FROM events"))
        await storage.close()

    trio.run(scenario)


def test_a_query_that_stops_before_its_last_row_does_not_hold_the_next_read_back(tmp_path: Path) -> None:
    """A reference may keep the cursor alive: Python decides when it is released."""
    cursors: list[apsw.Cursor] = []

    def stop_early(connection: apsw.Connection) -> object:
        cursors.append(connection.execute("SELECT record_id FROM memory_records"))
        return next(cursors[-1])

    async def scenario() -> int:
        storage = await open_at(tmp_path)
        for number in (1, 2):
            await put_record(storage, record(number, "pool"))
        await storage.readers.read(stop_early)
        await put_record(storage, record(3, "pool"))
        total = (await storage.list_memory_records(namespace=MINE, limit=9, offset=0)).total
        await storage.close()
        return total

    assert trio.run(scenario) == 3
