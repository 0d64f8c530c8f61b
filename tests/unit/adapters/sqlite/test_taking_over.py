"""A database of the first kiro-learn (migrations 1 to 5) is taken over, and all its values are kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import numpy as np
import pytest
import trio

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.event import EventKind, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.model.ids import from_text
from kiro_learn.model.record import ObservationType
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.testing.storage import delete_records, put_record, search_records
from tests.unit.adapters.sqlite.first_database import EVENTS, fill
from tests.unit.storage.builders import DAWN, MINE, event_id, record, record_id, vector


@pytest.fixture
def taken_over(tmp_path: Path) -> Callable[[Callable[[SqliteStorage], Awaitable[None]]], None]:
    path = tmp_path / "original.db"
    fill(path)

    async def scenario(check: Callable[[SqliteStorage], Awaitable[None]]) -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        await check(storage)
        await storage.close()

    return lambda check: trio.run(scenario, check)


TakenOver = Callable[[Callable[[SqliteStorage], Awaitable[None]]], None]


def test_every_event_is_there_with_every_value(taken_over: TakenOver) -> None:
    async def check(storage: SqliteStorage) -> None:
        events = (await storage.list_events(namespace=None, limit=9, cursor=None)).items
        assert [item.event_id for item in events] == ["Z" * 26, event_id(3), event_id(1)]
        assert [item.body for item in events] == [
            MessageBody((Turn("user", "a"),)),
            TextBody("héllo"),
            JsonBody({"tool_name": "x", "n": [1, None]}),
        ]
        assert [item.kind for item in events] == [EventKind.NOTE, EventKind.PROMPT, EventKind.TOOL_USE]
        assert [item.source.project_path for item in events] == [None, "/home/ann/w", None]
        assert [item.source.surface for item in events] == ["kiro-cli", "kiro-cli", "kiro-ide"]
        assert [item.parent_event_id for item in events] == [None, None, event_id(3)]
        assert events[2].content_hash == "sha256:" + "1" * 64
        assert [item.valid_time for item in events] == [
            from_text(row["valid_time"]) for row in (EVENTS[2], *EVENTS[:2])
        ]

    taken_over(check)


def test_every_record_is_there_with_every_value(taken_over: TakenOver) -> None:
    async def check(storage: SqliteStorage) -> None:
        found = await storage.get_memory_records([record_id(2), record_id(1), record_id(3)])
        assert found[0] == record(
            2,
            "Migrating users",
            strategy="llm-summary",
            summary="moved to uuid",
            facts=('ids are "uuid"', "two\nlines"),
            concepts=("schema",),
            files_touched=("src/db.ts",),
            observation_type=ObservationType.DECISION,
            source_event_ids=(event_id(3),),
            created_at=from_text("2026-04-01T10:05:00Z"),
        )
        assert found[1].observation_type is ObservationType.SESSION_SUMMARY
        assert found[1].created_at == from_text("2026-04-01T10:06:00.500Z")
        assert len(found[2].facts) == 60, "the first kiro-learn had no limit here, and its rows stay readable"

    taken_over(check)


def test_vectors_are_kept_and_the_others_wait_for_theirs(taken_over: TakenOver) -> None:
    async def check(storage: SqliteStorage) -> None:
        table = await storage.list_embeddings(MINE)
        assert table.record_ids == (record_id(2),)
        assert np.array_equal(table.vectors[0], vector(2))
        assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(3), record_id(1)]

    taken_over(check)


def test_words_are_found_in_their_own_namespace_concepts_and_files_too(taken_over: TakenOver) -> None:
    async def check(storage: SqliteStorage) -> None:
        for query, ids in (
            ("migrate", [record_id(2)]),
            ("schema", [record_id(2)]),
            ("db.ts", [record_id(2)]),
            ("fact", []),
        ):
            found = await search_records(storage, SearchParams(MINE, query, 9))
            assert [item.record_id for item in found] == ids, query

    taken_over(check)


def test_life_goes_on_after_it(taken_over: TakenOver) -> None:
    async def check(storage: SqliteStorage) -> None:
        await put_record(storage, record(9, "migrating once more"))
        await delete_records(storage, [record_id(2)])
        found = await search_records(storage, SearchParams(MINE, "migrations", 9))
        assert [item.record_id for item in found] == [record_id(9)]
        assert (await storage.get_stats(None)).total_projects == 2

    taken_over(check)


def test_nothing_of_the_old_index_is_left_and_moments_have_one_format(tmp_path: Path) -> None:
    path = tmp_path / "original.db"
    fill(path)
    database = apsw.Connection(str(path))
    migrate(database, MIGRATIONS, utc_now=lambda: DAWN)
    assert not database.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'memory_records_fts%'").fetchall()
    moments = database.execute("SELECT valid_time FROM events UNION ALL SELECT created_at FROM memory_records")
    assert {len(str(moment)) for (moment,) in moments} == {len("2026-04-01T10:00:00.000000Z")}
    assert database.execute("SELECT transaction_time FROM events WHERE event_id = ?", (event_id(3),)).get == (
        "2026-04-01T10:00:00.120000Z"
    )
    database.pragma("foreign_keys", True)
    assert not database.execute("PRAGMA foreign_key_check").fetchall()
    assert database.execute("PRAGMA integrity_check").get == "ok"


def test_a_moment_that_is_none_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "original.db"
    fill(path)
    database = apsw.Connection(str(path))
    database.execute("UPDATE events SET valid_time = 'yesterday' WHERE event_id = ?", (event_id(3),))
    with pytest.raises(StorageCorrupt, match=f"{event_id(3)} of events .* has the time 'yesterday'"):
        migrate(database, MIGRATIONS, utc_now=lambda: DAWN)
    assert database.execute("SELECT max(version) FROM _migrations").get == 5
