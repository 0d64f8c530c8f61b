"""Stores to test: the same suite meets each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.storage.builders import DAWN
from tests.unit.storage.contract import USER_HOME, Promise


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN, user_home=USER_HOME)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A migrated file: copying it takes a hundredth of the time of making one."""
    path = tmp_path_factory.mktemp("template") / "empty.db"

    async def make() -> None:
        await (await open_at(path)).close()

    trio.run(make)
    return path.read_bytes()


@pytest.fixture
def database(empty_database: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "test.db"
    path.write_bytes(empty_database)
    return path


@pytest.fixture(params=["memory", "sqlite"])
def keep(request: pytest.FixtureRequest) -> Callable[[Promise], None]:
    """Run a promise against one of the stores."""
    path = request.getfixturevalue("database") if request.param == "sqlite" else None

    async def scenario(promise: Promise) -> None:
        storage: StorageBackend = InMemoryStorage(user_home=USER_HOME) if path is None else await open_at(path)
        try:
            await promise(storage)
        finally:
            await storage.close()

    return lambda promise: trio.run(scenario, promise)
