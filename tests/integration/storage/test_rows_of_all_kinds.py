"""Only the damaged row is lost, of any kind: lists, searches, the backfill and a flush go on and name it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.adapters.sqlite.writer import SqliteTransaction
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import delete_records, put_event, search_records, transact_one
from tests.unit.storage.builders import DAWN, MINE, event, event_id, parts, project, record, record_id

NULLABLE = """
    UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')
     WHERE type = 'table' AND name IN ('events', 'memory_records')
"""

RECORD_DAMAGES = {
    "bad JSON": "facts_json = '[\"a'",
    "JSON of another kind": "concepts_json = '{\"a\": 1}'",
    "JSON of other items": "files_touched_json = '[1]'",
    "bad JSON of sources": "source_event_ids_json = 'x'",
    "a bad time": "created_at = 'yesterday'",
    "a bad time of another column": "stale_at = 'soon'",
    "text that is not UTF-8": "summary = CAST(x'61ff62' AS TEXT)",
    "a title that is not UTF-8": "title = CAST(x'ff' AS TEXT)",
    "a time that is not UTF-8": "created_at = CAST(x'ff' AS TEXT)",
    "JSON that is not UTF-8": "concepts_json = CAST(x'5b22ff225d' AS TEXT)",
    "NULL in place of a title": "title = NULL",
    "NULL in place of JSON": "facts_json = NULL",
    "NULL in place of a time": "created_at = NULL",
    "a kind that is none": "observation_type = 'wild'",
}
EVENT_DAMAGES = {
    "bad JSON": "body_json = '{'",
    "JSON of another kind": "body_json = '[]'",
    "a source that is none": "source_json = '1'",
    "a bad time": "valid_time = '2026-99-99T00:00:00Z'",
    "text that is not UTF-8": "body_json = CAST(x'7b22ff227d' AS TEXT)",
    "a session that is not UTF-8": "session_id = CAST(x'ff' AS TEXT)",
    "NULL in place of a body": "body_json = NULL",
    "NULL in place of a session": "session_id = NULL",
    "a kind that is none": "kind = 'wild'",
}
COUNT = 5
BROKEN = 3
OTHERS = [number for number in range(1, COUNT + 1) if number != BROKEN]


async def open_at(path: Path) -> SqliteStorage:
    return await open_sqlite_storage(path, StorageConfig(reader_count=1), utc_now=lambda: DAWN)


def fill(tx: StorageTransaction) -> None:
    for number in range(1, COUNT + 1):
        tx.put_event(event(number), size_bytes=10, buffered=True)
        tx.put_memory_record(record(number, f"pool {number}", concepts=("pools",)))


def damage(path: Path, table: str, column: str, row_id: str, change: str) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON")
        connection.execute(NULLABLE)
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
        connection.execute(f"UPDATE {table} SET {change} WHERE {column} = ?", (row_id,))  # noqa: S608  # constants above


def with_damage(tmp_path: Path, table: str, change: str, check: Callable[[SqliteStorage], Awaitable[None]]) -> None:
    column, row_id = ("record_id", record_id(BROKEN)) if table == "memory_records" else ("event_id", event_id(BROKEN))

    async def scenario() -> None:
        path = tmp_path / "test.db"
        storage = await open_at(path)
        await transact_one(storage, fill)
        await storage.close()
        damage(path, table, column, row_id, change)
        storage = await open_at(path)
        await check(storage)
        assert row_id in await storage.list_damaged()
        assert len(await storage.list_damaged()) == 1
        await storage.close()

    trio.run(scenario)


@pytest.mark.parametrize("kind", RECORD_DAMAGES)
def test_a_damaged_record_costs_itself(tmp_path: Path, kind: str) -> None:
    async def check(storage: SqliteStorage) -> None:
        ids = {record_id(number) for number in OTHERS}
        every_id = [record_id(number) for number in range(1, COUNT + 1)]
        for namespace in (MINE, None):
            page = await storage.list_memory_records(namespace=namespace, limit=9, offset=0)
            assert {item.record_id for item in page.items} == ids
            assert (page.damaged, page.total) == ((record_id(BROKEN),), COUNT)
            await storage.get_stats(namespace)
            await storage.count_embeddings(namespace)
        assert {item.record_id for item in await storage.get_memory_records(every_id)} == ids
        assert ids <= {hit.record_id for hit in (await storage.rank_by_words(SearchParams(MINE, "pool", 9))).hits}
        assert {item.record_id for item in await search_records(storage, SearchParams(MINE, "pool", 9))} == ids
        assert (await storage.get_ranking_features(every_id)).keys() >= ids
        assert {item.record_id for item in await storage.list_unembedded(9)} == ids
        assert len(await storage.list_unembedded(len(OTHERS))) == len(OTHERS), "it takes no place of another"
        await transact_one(storage, embed_all)
        assert set((await storage.list_embeddings(MINE)).record_ids) >= ids
        assert len(await storage.list_projects()) == 1

    def embed_all(tx: StorageTransaction) -> None:
        for number in range(1, COUNT + 1):
            if number in OTHERS:
                tx.put_embedding(record_id(number), parts(number))

    with_damage(tmp_path, "memory_records", RECORD_DAMAGES[kind], check)


@pytest.mark.parametrize("kind", EVENT_DAMAGES)
def test_a_damaged_event_costs_itself(tmp_path: Path, kind: str) -> None:
    async def check(storage: SqliteStorage) -> None:
        ids = [event_id(number) for number in OTHERS]
        for namespace in (MINE, None):
            found: list[str] = []
            named: list[str] = []
            cursor: str | None = None
            for _ in range(9):
                page = await storage.list_events(namespace=namespace, limit=2, cursor=cursor)
                found += [item.event_id for item in page.items]
                named += page.damaged
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert (sorted(found), named) == (ids, [event_id(BROKEN)])
        snapshot = await storage.snapshot_buffer(MINE, most_bytes=1_000)
        assert list(snapshot.source_event_ids) == ids
        await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=snapshot.through))
        assert (await storage.get_buffer_size(MINE)).event_count == 0
        again = await storage.snapshot_events(MINE, since=None, after=None, most_bytes=1_000)
        assert list(again.source_event_ids) == ids
        assert len(await storage.list_projects()) == 1
        await storage.get_stats(MINE)
        await storage.get_ranking_features([record_id(number) for number in range(1, COUNT + 1)])

    with_damage(tmp_path, "events", EVENT_DAMAGES[kind], check)


def test_what_alone_waits_and_is_damaged_is_told_by_its_place(tmp_path: Path) -> None:
    async def check(storage: SqliteStorage) -> None:
        await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=BROKEN - 1))
        first = await storage.snapshot_buffer(MINE, most_bytes=1)
        assert (first.source_event_ids, first.damaged_through) == ((event_id(BROKEN + 1),), 0)
        await transact_one(storage, keep_only_the_broken)
        alone = await storage.snapshot_buffer(MINE, most_bytes=1)
        assert (alone.entries, alone.damaged_through) == ((), COUNT + 1)
        await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=alone.damaged_through))
        assert (await storage.get_buffer_size(MINE)).event_count == 0
        assert (await storage.snapshot_buffer(MINE, most_bytes=1)).damaged_through == 0

    def keep_only_the_broken(tx: StorageTransaction) -> None:
        assert isinstance(tx, SqliteTransaction)
        tx.clear_buffer(MINE, through=COUNT)
        entry: rows.Values = {"number": 1, "event_id": event_id(BROKEN), "size_bytes": 1}
        tx.connection.execute(statements.PUT_BUFFERED, entry)

    with_damage(tmp_path, "events", EVENT_DAMAGES["bad JSON"], check)


@pytest.mark.parametrize("kind", RECORD_DAMAGES)
def test_a_damaged_record_can_be_forgotten(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        storage = await open_at(path)
        await transact_one(storage, fill)
        damage(path, "memory_records", "record_id", record_id(BROKEN), RECORD_DAMAGES[kind])
        assert (await storage.list_memory_records(namespace=MINE, limit=9, offset=0)).damaged == (record_id(BROKEN),)
        assert await delete_records(storage, [record_id(BROKEN)]) == 1
        assert await storage.list_damaged() == ()
        assert (await storage.list_memory_records(namespace=MINE, limit=9, offset=0)).damaged == ()
        await storage.close()

    trio.run(scenario)


@pytest.mark.parametrize("kind", RECORD_DAMAGES)
def test_a_damaged_record_that_was_replaced_costs_itself(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        storage = await open_at(path)
        await transact_one(storage, fill)
        damage(path, "memory_records", "record_id", record_id(BROKEN), RECORD_DAMAGES[kind])
        replacement = Replacement(
            replacement_id="r1",
            namespace=MINE,
            reason=ReplacementReason.MERGED,
            replaced_at=DAWN,
            replacing=(record_id(1),),
            replaced=(record(BROKEN),),
        )
        if "NULL" in kind:  # the table of replaced records refuses it
            with pytest.raises(StorageError):
                await transact_one(storage, lambda tx: tx.replace_memory_records(replacement))
            await storage.close()
            return
        await transact_one(storage, lambda tx: tx.replace_memory_records(replacement))
        assert await storage.list_replacements(record_id(1)) == ()
        assert record_id(BROKEN) in await storage.list_damaged()
        with pytest.raises(StorageCorrupt, match="r1"):
            await transact_one(storage, lambda tx: tx.undo_replacement(record_id(1)))
        assert await delete_records(storage, [record_id(BROKEN)]) == 1
        await storage.close()

    trio.run(scenario)


def test_a_namespace_that_is_not_utf_8_costs_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "test.db"
        storage = await open_at(path)
        await transact_one(storage, fill)
        other = project("other")
        await transact_one(storage, lambda tx: tx.put_event(event(8, namespace=other), size_bytes=1, buffered=True))
        damage(path, "namespaces", "namespace", MINE, "namespace = CAST(x'ff' AS TEXT)")
        damage(path, "events", "namespace", MINE, "namespace = CAST(x'ff' AS TEXT)")
        assert list(await storage.list_buffers()) == [other]
        assert [each.namespace for each in await storage.list_projects()] == [other]
        assert (await storage.get_stats(None)).total_events == COUNT + 1
        await storage.close()

    trio.run(scenario)


def test_text_that_is_not_utf_8_is_an_error_of_the_store(tmp_path: Path) -> None:
    async def scenario() -> None:
        storage = await open_at(tmp_path / "test.db")

        def read(tx: StorageTransaction) -> None:
            assert isinstance(tx, SqliteTransaction)
            tx.connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()

        with pytest.raises(StorageCorrupt, match="not UTF-8"):
            await transact_one(storage, read)
        assert await put_event(storage, event(9)), "it goes on"
        await storage.close()

    trio.run(scenario)
