"""With a damaged index of words, records are still found, writing goes on, and a rebuild mends the index."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.ports.storage.records import SyntaxSearch
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, record, record_id

DAMAGES = {
    "the table is gone": "DROP TABLE records_fts_1",
    "all of its data is gone": "DELETE FROM records_fts_1_data",
    "its data is zeros": "UPDATE records_fts_1_data SET block = zeroblob(20)",
    "its data is noise": "UPDATE records_fts_1_data SET block = x'ffffffffffff'",
    "its pages are noise": "UPDATE records_fts_1_data SET block = x'ffffffffffff' WHERE id > 10",
    "its pages are gone": "DELETE FROM records_fts_1_data WHERE id > 10",
    "its totals are gone": "DELETE FROM records_fts_1_data WHERE id = 1",
    "its list of parts is zeros": "UPDATE records_fts_1_data SET block = zeroblob(length(block)) WHERE id = 10",
    "its list of parts is empty": "UPDATE records_fts_1_data SET block = x'' WHERE id = 10",
    "its list of parts is cut": "UPDATE records_fts_1_data SET block = substr(block, 1, 12) WHERE id = 10",
    "its list of parts is that of an empty index": "UPDATE records_fts_1_data SET block = zeroblob(7) WHERE id = 10",
    "its list of parts lacks one": "CREATE TEMP TABLE kept AS SELECT block FROM records_fts_1_data WHERE id = 10;"
    "INSERT INTO records_fts_1 (rowid, title) VALUES ((1 << 32) + 99, 'migration');"
    "INSERT INTO records_fts_1 (records_fts_1) VALUES ('flush');"
    "UPDATE records_fts_1_data SET block = (SELECT block FROM kept) WHERE id = 10",
    "its lengths are gone": "DELETE FROM records_fts_1_docsize",
    "one length is gone": "DELETE FROM records_fts_1_docsize WHERE id & 0xffffffff = 2",
    "it names documents that never were": "CREATE TEMP TABLE kept AS SELECT block FROM records_fts_1_data WHERE id = 1;"
    "INSERT INTO records_fts_1 (rowid, title) VALUES ((1 << 32) + 99, 'migration');"
    "INSERT INTO records_fts_1 (records_fts_1) VALUES ('flush');"
    "DELETE FROM records_fts_1_docsize WHERE id = (1 << 32) + 99;"
    "UPDATE records_fts_1_data SET block = (SELECT block FROM kept) WHERE id = 1",
    "its lengths are noise": "UPDATE records_fts_1_docsize SET sz = x'ff'",
    "a table of its own is gone": "DROP TABLE records_fts_1_data",
    "the table of its parts is gone": "DROP TABLE records_fts_1_idx",
    "the table of its lengths is gone": "DROP TABLE records_fts_1_docsize",
    "its configuration is gone": "DELETE FROM records_fts_1_config",
    "the table of that is gone": "DROP TABLE records_fts_1_config",
}
UNSEEN_BY_STATE = {"it names documents that never were"}
"""Damage that is noticed only by a search for one of its words."""
QUERY = SearchParams(MINE, "pool 2 migration", 9)


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(reader_count=1), utc_now=lambda: DAWN)


async def filled(storage: SqliteStorage) -> None:
    for number in range(1, 8):
        await put_record(storage, record(number, f"pool number {number}", facts=("migrations",) if number == 3 else ()))


async def whole(path: Path) -> LexicalRanking:
    storage = await open_at(path)
    await filled(storage)
    ranking = await storage.rank_by_words(QUERY)
    await storage.close()
    return ranking


def chunk(tx: StorageTransaction, *, after: int) -> int | None:
    return tx.rebuild_words(MINE, after=after, most=3)


async def rebuild(storage: SqliteStorage) -> None:
    after: int | None = 0
    while after is not None:
        after = await transact_one(storage, partial(chunk, after=after))


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_found_is_found_without_it_and_again_when_it_is_rebuilt(tmp_path: Path, damage: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        before = await whole(path)
        with apsw.Connection(str(path)) as connection:
            connection.execute(DAMAGES[damage])
        storage = await open_at(path)

        found = await storage.rank_by_words(QUERY)
        assert found.is_index_damaged
        assert {hit.record_id for hit in before.hits} <= {hit.record_id for hit in found.hits}
        assert found.hits[0].score / found.ideal_score > 0.25, "the floor lets it pass"
        if damage not in UNSEEN_BY_STATE:
            by_syntax = await storage.search_syntax(SyntaxSearch(namespace=MINE, expression="pool", limit=9))
            assert by_syntax.is_index_damaged

        await rebuild(storage)
        assert await storage.rank_by_words(QUERY) == before
        await storage.close()

    trio.run(scenario)


@pytest.mark.parametrize("damage", DAMAGES)
def test_writing_goes_on(tmp_path: Path, damage: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        await whole(path)
        with apsw.Connection(str(path)) as connection:
            connection.execute(DAMAGES[damage])
        storage = await open_at(path)
        await put_record(storage, record(8, "pool eight"))
        assert await delete_records(storage, [record_id(1)]) == 1
        found = await storage.rank_by_words(QUERY)
        assert {hit.record_id for hit in found.hits} == {record_id(number) for number in range(2, 9)}
        await rebuild(storage)
        found = await storage.rank_by_words(QUERY)
        assert {hit.record_id for hit in found.hits} == {record_id(number) for number in range(2, 9)}
        assert not found.is_index_damaged
        await storage.close()

    trio.run(scenario)
