"""An attempt goes on after a refused row, but not after an error of the whole store."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.adapters.sqlite.writer import SqliteTransaction, Writer
from kiro_learn.errors import StorageError
from kiro_learn.ports.storage.answers import Committed, RecordStored
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from tests.unit.storage.builders import DAWN, MINE, record, record_id


@pytest.fixture
def connection() -> apsw.Connection:
    database = apsw.Connection(":memory:")
    migrate(database, MIGRATIONS, utc_now=lambda: DAWN)
    return database


def raising(error: Exception) -> Work[None]:
    def work(tx: StorageTransaction) -> None:
        tx.put_memory_record(record(2))
        raise error

    return work


def putting_a_broken_row(tx: StorageTransaction) -> None:
    """Put a row with a wrong importance, which only the table's CHECK refuses here."""
    broken = record(2)
    object.__setattr__(broken, "importance", 99)
    tx.put_memory_record(broken)


def putting_no_text(tx: StorageTransaction) -> None:
    tx.put_memory_record(record(2))
    tx.put_hook_session("key", "\ud800")


def putting_too_large_a_number(tx: StorageTransaction) -> None:
    tx.put_memory_record(record(2))
    tx.clear_buffer(MINE, through=2**70)


@pytest.mark.parametrize(
    "refused",
    [
        putting_a_broken_row,
        putting_no_text,
        putting_too_large_a_number,
        raising(apsw.TooBigError("string or blob too big")),
        raising(apsw.MismatchError("datatype mismatch")),
    ],
)
def test_a_row_that_is_refused_costs_its_attempt_alone(connection: apsw.Connection, refused: Work[None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    transaction = SqliteTransaction(connection, lambda: DAWN)
    transaction.put_memory_record(record(1))
    with pytest.raises(StorageError, match="the store refuses a row"):
        transaction.attempt(refused)
    transaction.put_memory_record(record(3))
    connection.execute("COMMIT")
    assert transaction.changes == [RecordStored(MINE, record_id(1)), RecordStored(MINE, record_id(3))]
    assert connection.execute("SELECT record_id FROM memory_records ORDER BY number").fetchall() == [
        (record_id(1),),
        (record_id(3),),
    ]


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.BusyError])
def test_a_store_that_fails_ends_the_whole_batch(connection: apsw.Connection, error: type[apsw.Error]) -> None:
    writer = Writer(Path("test.db"), connection, utc_now=lambda: DAWN)
    with pytest.raises(StorageError):
        writer._commit_together(
            [lambda tx: tx.put_memory_record(record(1)), lambda tx: tx.attempt(raising(error("ill")))]
        )
    assert connection.execute("SELECT count(*) FROM memory_records").get == 0
    assert isinstance(writer._commit_together([lambda tx: tx.put_memory_record(record(1))])[0], Committed)


def test_an_attempt_does_not_trip_over_what_sqlite_rolled_back_by_itself(connection: apsw.Connection) -> None:
    writer = Writer(Path("test.db"), connection, utc_now=lambda: DAWN)

    def fill_the_disk(_tx: StorageTransaction) -> None:
        connection.execute("ROLLBACK")
        raise apsw.FullError("database or disk is full")

    with pytest.raises(StorageError, match="there is no room"):
        writer._commit_together([lambda tx: tx.put_memory_record(record(1)), lambda tx: tx.attempt(fill_the_disk)])
    assert connection.execute("SELECT count(*) FROM memory_records").get == 0


def test_a_full_disk_is_told_as_such(connection: apsw.Connection) -> None:
    writer = Writer(Path("test.db"), connection, utc_now=lambda: DAWN)
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').get}")

    def fill(tx: StorageTransaction) -> None:
        for number in range(100):
            tx.put_memory_record(record(number, summary="x" * 4000, facts=("y" * 500,) * 50))

    with pytest.raises(StorageError, match="there is no room"):
        writer._commit_together([lambda tx: tx.attempt(fill)])
    assert connection.execute("SELECT count(*) FROM memory_records").get == 0
