"""The database as a file: who may read it, and the error if it cannot be used."""

from __future__ import annotations

import stat
from pathlib import Path

import apsw
import pytest
import structlog
import trio

from kiro_learn.adapters.sqlite import index_statements
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import MigrationDriftError, SchemaTooNew, StorageBusy, StorageCorrupt, StorageUnavailable
from kiro_learn.testing.storage import delete_records, put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, event, event_id, parts, record, record_id, vector

IMPATIENT = StorageConfig(busy_seconds=0.05, reader_count=1)


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, IMPATIENT, utc_now=lambda: DAWN)


async def open_and_close(path: Path) -> None:
    await (await open_at(path)).close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_file_and_its_siblings_are_the_owners_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        await put_event(storage, event(1))
        for name in ("test.db", "test.db-wal", "test.db-shm"):
            assert mode(tmp_path / name) == 0o600
        await storage.close()

    trio.run(scenario)


def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    trio.run(open_and_close, path)
    path.chmod(0o644)
    trio.run(open_and_close, path)
    assert mode(path) == 0o600


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        await put_event(storage, event(1))
        await put_record(storage, record(1))
        await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
        await storage.close()
        storage = await open_at(tmp_path / "test.db")
        assert await storage.get_event_by_id(event_id(1)) == event(1)
        assert await storage.get_memory_records([record_id(1)]) == [record(1)]
        assert (await storage.list_embeddings(MINE)).vectors.tobytes() == vector(1).tobytes()
        await storage.close()

    trio.run(scenario)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    trio.run(open_and_close, tmp_path / "real.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    with pytest.raises(StorageUnavailable) as refused:
        trio.run(open_and_close, tmp_path / "link.db")
    assert "symbolic link" in refused.value.hint


def test_a_folder_that_is_not_there_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable) as refused:
        trio.run(open_and_close, tmp_path / "absent" / "test.db")
    assert "Is the folder there" in refused.value.hint


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable):
        trio.run(open_and_close, tmp_path)


def test_a_file_that_is_no_database_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "test.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageCorrupt) as refused:
        trio.run(open_and_close, tmp_path / "test.db")
    assert isinstance(refused.value.__cause__, apsw.NotADBError)
    assert (tmp_path / "test.db").read_bytes() == b"no database at all" * 100


def test_a_write_lock_held_elsewhere_is_busy_and_then_it_is_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        other = apsw.Connection(str(tmp_path / "test.db"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy):
            await put_event(storage, event(1))
        assert await storage.get_event_by_id(event_id(1)) is None, "reads do not wait for it"
        other.execute("ROLLBACK")
        assert await put_event(storage, event(1))
        other.close()
        await storage.close()

    trio.run(scenario)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("UPDATE _migrations SET name = 'otherwise' WHERE version = 3", MigrationDriftError),
        ("INSERT INTO _migrations VALUES (999, 'future', '2030')", SchemaTooNew),
    ],
)
def test_what_another_version_wrote_is_refused_untouched(tmp_path: Path, change: str, error: type[Exception]) -> None:
    path = tmp_path / "test.db"
    trio.run(open_and_close, path)
    other = apsw.Connection(str(path))
    other.execute(change)
    other.close()
    before = path.read_bytes()
    with pytest.raises(error):
        trio.run(open_and_close, path)
    assert path.read_bytes() == before


def test_a_damaged_vector_is_logged_by_its_record_and_left_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        storage = await open_at(path)
        for number in (1, 2):
            await put_record(storage, record(number))
            await transact_one(
                storage,
                lambda tx, number=number: tx.put_embedding(record_id(number), parts(number)),  # type: ignore[misc]  # mypy cannot infer it
            )
        other = apsw.Connection(str(path))
        other.execute("UPDATE memory_records SET embedding = x'00' WHERE record_id = ?", (record_id(1),))
        other.close()
        with structlog.testing.capture_logs() as logged:
            table = await storage.list_embeddings(MINE)
        assert table.record_ids == (record_id(2),)
        assert [(entry["event"], entry["record_id"]) for entry in logged] == [("storage.vector_damaged", record_id(1))]
        await storage.close()

    trio.run(scenario)


def matches(database: apsw.Connection, number: int, word: str) -> bool:
    query = for_namespace(index_statements.DOCUMENT_FREQUENCY, number)
    return bool(database.execute(query, {"expression": word}).get)


def test_no_ghost_of_a_deleted_record_stays_in_the_index(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        await put_record(storage, record(1, "kept"))
        await put_record(storage, record(2, "gone"))
        await put_record(storage, record(3, "gone", namespace=OTHERS))
        await delete_records(storage, [record_id(2), record_id(3)])
        await storage.close()

    trio.run(scenario)
    database = apsw.Connection(str(tmp_path / "test.db"))
    assert [matches(database, 1, word) for word in ("kept", "gone")] == [True, False]
    assert [matches(database, 2, word) for word in ("kept", "gone")] == [False, False]
    assert database.execute("SELECT count(*) FROM records_fts_1_docsize").get == 1
    assert database.execute("SELECT count(*) FROM records_fts_2_docsize").get == 0
    assert database.execute("SELECT count(*) FROM memory_records").get == 1
    database.close()
