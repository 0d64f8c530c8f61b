"""The file is rewritten without its free pages, or left as it is with a reason."""

from __future__ import annotations

import shutil
from collections import namedtuple
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.sqlite import eraser
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageError, StorageUnavailable
from kiro_learn.model.event import TextBody
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage.builders import MINE, event, event_id, record, record_id

COUNT = 60
Usage = namedtuple("Usage", "total used free")  # noqa: PYI024  # as shutil has it


async def emptied(path: Path) -> None:
    """Make a file with mostly free pages, and rewrite it."""
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime(2026, 1, 5, tzinfo=UTC))
    try:
        for number in range(1, COUNT):
            await put_record(storage, record(number, summary="word " * 700))
        await delete_records(storage, [record_id(number) for number in range(2, COUNT)])
        await storage.erase_forgotten()
        before = await storage.get_file_size()
        assert before.free_bytes > before.bytes / 4
        await storage.give_back_space()
        after = await storage.get_file_size()
        assert after.bytes == pytest.approx(before.bytes - before.free_bytes, rel=0.2)
        assert after.free_bytes < after.bytes / 10
        assert (await trio.Path(path).stat()).st_size == after.bytes
        assert [each.record_id for each in await storage.get_memory_records([record_id(1)])] == [record_id(1)]
    finally:
        await storage.close()
    with pytest.raises(StorageUnavailable):
        await storage.give_back_space()


def test_what_is_free_is_given_back(tmp_path: Path) -> None:
    trio.run(emptied, tmp_path / "kiro-learn.db")


def test_space_inside_of_pages_counts_as_free(tmp_path: Path) -> None:
    """Content that goes by age seldom fills a page, so its space is in pages that still hold its event."""
    path, numbers = tmp_path / "kiro-learn.db", range(1, 500)

    async def scenario() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime(2026, 1, 5, tzinfo=UTC))

        def put(transaction: StorageTransaction) -> None:
            for number in numbers:
                transaction.put_event(event(number, body=TextBody("word " * 300)), buffered=False)

        await transact_one(storage, put)
        full = await storage.get_file_size()
        assert full.free_bytes < full.bytes / 10
        await transact_one(storage, lambda tx: tx.expire_events(MINE, [event_id(number) for number in numbers]))
        expired = await storage.get_file_size()
        assert expired.free_bytes > expired.bytes / 2
        await storage.give_back_space()
        after = await storage.get_file_size()
        assert after.free_bytes < after.bytes / 10
        assert after.bytes == pytest.approx(expired.bytes - expired.free_bytes, rel=0.2)
        await storage.close()

    trio.run(scenario)


def test_content_that_memory_may_not_hold_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eraser, "MOST_REWRITTEN_BYTES", 10_000)
    with pytest.raises(StorageError, match="rewritten in memory") as caught:
        trio.run(emptied, tmp_path / "kiro-learn.db")
    assert caught.value.hint.startswith("kiro-learn stop && sqlite3 ")


def test_a_full_disk_is_named_before_anything_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(1, 1, 0))
    with pytest.raises(StorageError, match="free space"):
        trio.run(emptied, tmp_path / "kiro-learn.db")


def test_one_that_is_cancelled_leaves_the_file_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kiro-learn.db"
    monkeypatch.setattr(eraser, "STEPS_BETWEEN_INTERRUPTIONS", 1)

    async def scenario() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime(2026, 1, 5, tzinfo=UTC))
        await put_record(storage, record(1))
        before = await storage.get_file_size()
        with trio.CancelScope() as scope:

            def cancel(_path: Path) -> Usage:
                trio.from_thread.run_sync(scope.cancel)
                return Usage(1, 0, 1 << 40)

            monkeypatch.setattr(shutil, "disk_usage", cancel)
            await storage.give_back_space()
        assert scope.cancelled_caught
        assert await storage.get_file_size() == before
        monkeypatch.undo()
        await put_record(storage, record(2))
        await storage.give_back_space()
        assert len(await storage.get_memory_records([record_id(1), record_id(2)])) == 2
        await storage.close()

    trio.run(scenario)
