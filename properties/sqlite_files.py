"""SQLite stores for properties: each example gets a fresh file, copied from one that was migrated once."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TypeVar

import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig

T = TypeVar("T")

USER_HOME = PurePath("/home/ann")
CONFIG = StorageConfig(reader_count=1)


def with_sqlite(scenario: Callable[[SqliteStorage], Awaitable[T]]) -> T:
    """Run ``scenario`` on an empty store, in real time, since SQLite works in threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.db"
        path.write_bytes(_migrated())
        return trio.run(_run, path, scenario)


@functools.cache
def _migrated() -> bytes:
    async def nothing(_storage: SqliteStorage) -> None:
        await trio.lowlevel.checkpoint()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.db"
        trio.run(_run, path, nothing)
        return path.read_bytes()


async def _run(path: Path, scenario: Callable[[SqliteStorage], Awaitable[T]]) -> T:
    storage = await open_sqlite_storage(path, CONFIG, utc_now=lambda: datetime.now(UTC), user_home=USER_HOME)
    try:
        return await scenario(storage)
    finally:
        await storage.close()
