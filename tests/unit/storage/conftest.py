"""The stores that are tested, all by the same suite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.testing.storage import InMemoryStorage
from tests.postgres import PostgresForTests, postgres_server
from tests.unit.storage.builders import DAWN
from tests.unit.storage.contract import USER_HOME, Promise


async def open_in_memory() -> InMemoryStorage:
    return InMemoryStorage(user_home=USER_HOME)


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN, user_home=USER_HOME)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A migrated file; copying it takes a hundredth of the time it takes to make one."""
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresForTests]:
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def keep(request: pytest.FixtureRequest) -> Callable[[Promise], None]:
    """Run a promise against one of the stores."""
    opening: Callable[[], Awaitable[StorageBackend]]
    if request.param == "sqlite":
        opening = partial(open_at, request.getfixturevalue("database"))
    elif request.param == "postgres":
        opening = partial(request.getfixturevalue("postgres").open, utc_now=lambda: DAWN, user_home=USER_HOME)
    else:
        opening = open_in_memory

    async def scenario(promise: Promise) -> None:
        storage: StorageBackend = await opening()
        try:
            await promise(storage)
        finally:
            await storage.close()

    return lambda promise: trio.run(scenario, promise)
