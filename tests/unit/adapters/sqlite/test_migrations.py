"""A database of a development version opens unchanged if it has all steps, and is refused otherwise."""

from __future__ import annotations

from pathlib import Path

import apsw
import attrs
import pytest
import trio

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import MigrationDriftError
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.testing.storage import put_record, search_records, transact_one
from tests.unit.storage.builders import DAWN, MINE, record

DEVELOPMENT_STEPS = [version for version in range(6, 33) if version != 19]
"""The steps of development versions; one number was never used."""


def record_as_steps(database: apsw.Connection, versions: list[int]) -> None:
    """Make the database say that its schema came by these steps of development versions."""
    database.execute("UPDATE _migrations SET name = 'retention' WHERE version = 33")
    for version in versions:
        database.execute("INSERT INTO _migrations VALUES (?, ?, '2026-11-20')", (version, f"step {version}"))


def test_a_home_that_took_every_step_opens_untouched(tmp_path: Path) -> None:
    path = tmp_path / "home.db"

    async def made() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        await put_record(storage, record(1, "the pool is closed"))
        await storage.close()

    async def opened() -> list[str]:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        found = await search_records(storage, SearchParams(MINE, "pool", 9))
        await storage.close()
        return [each.title for each in found]

    trio.run(made)
    with apsw.Connection(str(path)) as database:
        record_as_steps(database, DEVELOPMENT_STEPS)
    database.close()
    before = path.read_bytes()
    assert trio.run(opened) == ["the pool is closed"]
    assert path.read_bytes() == before


def test_a_home_from_before_pins_opens_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "home.db"
    kept = record(1, "the pool is closed")

    async def made() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        await put_record(storage, kept)
        await storage.close()

    async def opened() -> list[MemoryRecord]:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        found = await storage.get_memory_records([kept.record_id])
        await transact_one(storage, lambda tx: tx.set_pinned([kept.record_id], DAWN))
        found += await storage.get_memory_records([kept.record_id])
        await storage.close()
        return found

    trio.run(made)
    with apsw.Connection(str(path)) as database:
        database.execute("DROP INDEX records_pinned")
        for table in ("memory_records", "replaced_records"):
            database.execute(f"ALTER TABLE {table} DROP COLUMN pinned_at")
        database.execute("DELETE FROM _migrations WHERE name = 'pins'")
    database.close()
    assert trio.run(opened) == [kept, attrs.evolve(kept, pinned_at=DAWN)]


@pytest.mark.parametrize("newest", [6, 21, 32])
def test_a_database_in_the_middle_of_the_steps_is_refused_untouched(newest: int) -> None:
    database = apsw.Connection(":memory:")
    migrate(database, MIGRATIONS[:5], utc_now=lambda: DAWN)
    record_as_steps(database, [version for version in DEVELOPMENT_STEPS if version <= newest])
    before = database.serialize("main")
    with pytest.raises(MigrationDriftError, match=r"migration 6 .* development") as caught:
        migrate(database, MIGRATIONS, utc_now=lambda: DAWN)
    assert "backups" in caught.value.hint
    assert database.serialize("main") == before
