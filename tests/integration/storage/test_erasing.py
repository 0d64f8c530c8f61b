"""Forgotten text is nowhere in the database's files, wherever SQLite had copies of it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import delete_records, put_record, search_records, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, parts, project, record, record_id
from tests.unit.storage.contract_graph import entity, fact

NAMESPACES = (MINE, OTHERS, project("c" * 64))
COUNT = 400


def mark(number: int) -> str:
    """A word that only record ``number`` has. Its end differs from the words next to it in an index."""
    return "q" + hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


def found_in(folder: Path, numbers: Iterable[int]) -> list[int]:
    """The numbers of which a file of ``folder`` has the end of the mark: indexes leave out shared beginnings."""
    kept = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    return [number for number in numbers if mark(number)[8:].encode() in kept]


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """Keep the database open by another connection, as the daemon's readers do, so that a close does not clean up."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        yield


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(busy_seconds=0.2), utc_now=lambda: DAWN)


async def fill(storage: SqliteStorage, *, most_words: int, embedded: bool) -> None:
    """Put records of three projects, mixed, and then vectors in another order, so that rows grow and pages split."""
    chance = random.Random(most_words)  # a story, not a secret

    def put(numbers: range, transaction: StorageTransaction) -> None:
        for number in numbers:
            text = f"{mark(number)} {'word ' * chance.randrange(1, most_words)}"
            namespace = NAMESPACES[chance.randrange(3)]
            transaction.put_memory_record(record(number, f"about {mark(number)}", summary=text, namespace=namespace))

    def embed(numbers: Collection[int], transaction: StorageTransaction) -> None:
        for number in numbers:
            transaction.put_embedding(record_id(number), parts(number))

    for start in range(0, COUNT, 40):
        await transact_one(storage, lambda tx, start=start: put(range(start, start + 40), tx))  # type: ignore[misc]  # mypy cannot infer it
    order = chance.sample(range(COUNT), COUNT)
    for start in range(0, COUNT if embedded else 0, 40):
        await transact_one(storage, lambda tx, start=start: embed(order[start : start + 40], tx))  # type: ignore[misc]  # mypy cannot infer it


@pytest.mark.parametrize(("most_words", "embedded"), [(30, True), (30, False), (400, True)])
def test_no_copy_of_a_forgotten_record_is_left(tmp_path: Path, most_words: int, embedded: bool) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> None:
        storage = await open_at(path)
        await fill(storage, most_words=most_words, embedded=embedded)
        gone = range(0, COUNT, 4)
        assert len(found_in(tmp_path, gone)) == len(gone)
        await delete_records(storage, [record_id(number) for number in gone])
        await storage.erase_forgotten()
        with opened(path):
            assert found_in(tmp_path, gone) == []
        rest = [number for number in range(COUNT) if number not in gone]
        assert len(found_in(tmp_path, rest)) == len(rest)
        await storage.close()
        storage = await open_at(path)
        assert (await storage.list_memory_records(namespace=None, limit=1, offset=0)).total == len(rest)
        for namespace in NAMESPACES:
            page = await storage.list_memory_records(namespace=namespace, limit=COUNT, offset=0)
            asked = SearchParams(namespace, page.items[7].title, limit=3)
            assert (await search_records(storage, asked))[0] == page.items[7]
        await storage.close()

    trio.run(scenario)
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.parametrize("gone", [range(0, 40, 4), range(40)], ids=["some", "all"])
def test_no_copy_is_left_where_projects_were_merged_before(tmp_path: Path, gone: range) -> None:
    def put(transaction: StorageTransaction) -> None:
        for number in range(40):
            transaction.put_memory_record(record(number, f"about {mark(number)}", namespace=NAMESPACES[number % 3]))

    def merge(transaction: StorageTransaction, source: Namespace, target: Namespace) -> None:
        transaction.begin_merge(source, target)
        while transaction.merge_some(source, limit=10):
            pass

    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        await transact_one(storage, put)
        first, second, third = NAMESPACES
        await transact_one(storage, lambda transaction: merge(transaction, first, second))
        await transact_one(storage, lambda transaction: merge(transaction, second, third))
        await delete_records(storage, [record_id(number) for number in gone])
        await storage.erase_forgotten()
        with opened(tmp_path / "test.db"):
            assert found_in(tmp_path, gone) == []
            rest = [number for number in range(40) if number not in gone]
            assert found_in(tmp_path, rest) == rest
        await storage.close()

    trio.run(scenario)


def test_no_copy_of_a_forgotten_item_of_the_graph_is_left(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        known = [entity(number, f"about {mark(number)}") for number in range(COUNT)]
        said = [fact(number, each, f"said {mark(number)}") for number, each in enumerate(known)]
        await transact_one(storage, lambda transaction: transaction.put_graph_items([*known, *said]))
        gone = range(0, COUNT, 4)
        assert len(found_in(tmp_path, gone)) == len(gone)
        doomed = [known[number].item_id for number in gone]
        await transact_one(storage, lambda transaction: transaction.delete_graph_items(doomed))
        await storage.erase_forgotten()
        with opened(tmp_path / "test.db"):
            assert found_in(tmp_path, gone) == []
        rest = [number for number in range(COUNT) if number not in gone]
        assert len(found_in(tmp_path, rest)) == len(rest)
        await storage.close()

    trio.run(scenario)


def test_what_was_overwritten_does_not_come_back_with_later_writes(tmp_path: Path) -> None:
    """The writer still has the old pages in its memory."""

    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        await fill(storage, most_words=30, embedded=True)
        gone = range(0, COUNT, 4)
        await delete_records(storage, [record_id(number) for number in gone])
        await storage.erase_forgotten()
        for number in range(1, COUNT, 4):
            await transact_one(storage, lambda tx, number=number: tx.put_embedding(record_id(number), parts(1, 2)))  # type: ignore[misc]  # mypy cannot infer it
        assert found_in(tmp_path, gone) == []
        await storage.close()
        assert found_in(tmp_path, gone) == []

    trio.run(scenario)


def test_histories_and_what_is_parked_hold_nothing_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")
        old, new = record(1, mark(1)), record(2, mark(2))
        parked = ParkedCluster(
            cluster_id="x", namespace=MINE, records=(record(3, mark(1)),), problem="", attempt_count=1, retry_at=DAWN
        )
        merge = Replacement(
            replacement_id="1 by 2",
            namespace=MINE,
            reason=ReplacementReason.MERGED,
            replaced_at=at(1),
            replacing=(new.record_id,),
            replaced=(old,),
        )
        await put_record(storage, old)
        await put_record(storage, new)
        await transact_one(storage, lambda tx: tx.replace_memory_records(merge))
        await transact_one(storage, lambda tx: tx.park_cluster(parked))
        await delete_records(storage, [record_id(2)])
        await storage.erase_forgotten()
        assert found_in(tmp_path, (1, 2)) == []
        await storage.close()

    trio.run(scenario)


def test_what_an_older_version_deleted_is_overwritten_too(tmp_path: Path) -> None:
    """Older versions did not overwrite freed space."""
    path = tmp_path / "test.db"

    async def fill_it() -> None:
        storage = await open_at(path)
        await fill(storage, most_words=400, embedded=False)
        await storage.close()

    async def forget() -> None:
        storage = await open_at(path)
        for namespace in NAMESPACES:
            page = await storage.list_memory_records(namespace=namespace, limit=1, offset=0)
            await delete_records(storage, [page.items[0].record_id])
        await storage.erase_forgotten()
        await storage.close()

    trio.run(fill_it)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("DELETE FROM memory_records WHERE number & 3 = 0")
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'records_fts__'").fetchall():
            connection.execute(f"DELETE FROM {name} WHERE rowid & 3 = 0")  # noqa: S608  # a name from the schema
        kept = {row[0] for row in connection.execute("SELECT record_id FROM memory_records")}
        assert connection.pragma("freelist_count") > 0
    gone = [number for number in range(COUNT) if record_id(number) not in kept]
    assert found_in(tmp_path, gone)
    trio.run(forget)
    assert found_in(tmp_path, gone) == []


def test_while_somebody_reads_a_state_of_before_it_is_left_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "test.db"

    async def scenario() -> None:
        storage = await open_at(path)
        await put_record(storage, record(1, mark(1)))
        await put_record(storage, record(2, mark(2)))
        with closing(apsw.Connection(str(path))) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memory_records").fetchall()
            await delete_records(storage, [record_id(1)])
            await storage.erase_forgotten()
            assert found_in(tmp_path, [1]) == [1]
            reader.execute("COMMIT")
        await storage.erase_forgotten()
        assert found_in(tmp_path, [1, 2]) == [2]
        await storage.close()

    trio.run(scenario)
