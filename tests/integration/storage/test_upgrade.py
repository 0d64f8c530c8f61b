"""The upgrade of a database of the first kiro-learn: all or nothing, with a checked copy of the old one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.migrations.runner import NO_CONTEXT, MigrationContext, unreported
from kiro_learn.adapters.sqlite.opening import Upgrade, open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage
from kiro_learn.model.event import TextBody
from kiro_learn.model.namespace import Namespace, within_our_limits
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.testing.storage import put_event, search_records, transact_one
from tests.unit.adapters.sqlite.first_database import fill
from tests.unit.storage.builders import DAWN, MINE, OTHERS, event, event_id, record_id

COPY = "kiro-learn-v5-20260105T120000Z.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    fill(tmp_path / "kiro-learn.db")
    return tmp_path / "kiro-learn.db"


def change(path: Path, sql: str, *values: str | int | bytes | None) -> None:
    database = apsw.Connection(str(path))
    database.execute(sql, values)
    database.close()


def content(path: Path) -> list[object]:
    """Every row of every table that the first kiro-learn reads."""
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = ("events", "memory_records", "memory_records_fts", "_migrations", "sqlite_schema")
    return [database.execute(f"SELECT * FROM {table}").fetchall() for table in tables]  # noqa: S608  # names of ours


async def opened(
    path: Path,
    report: Callable[[UpgradeProgress], None] = unreported,
    context: MigrationContext = NO_CONTEXT,
) -> SqliteStorage:
    upgrade = Upgrade(backups=path.parent / "backups", report=report, context=context)
    return await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN, upgrade=upgrade)


def copies(path: Path) -> list[str]:
    return sorted(each.name for each in (path.parent / "backups").iterdir())


def test_the_copy_is_what_there_was_and_is_one_file_of_the_owners(path: Path) -> None:
    change(path, "PRAGMA journal_mode = WAL")
    before = content(path)

    async def scenario() -> None:
        await (await opened(path)).close()
        await (await opened(path)).close()

    trio.run(scenario)
    assert copies(path) == [COPY]
    copy = path.parent / "backups" / COPY
    assert content(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copies(path) == [COPY], "reading it made no second file"


def test_a_new_database_needs_no_copy(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()

    async def scenario() -> None:
        await (await opened(tmp_path / "kiro-learn.db")).close()

    trio.run(scenario)
    assert not list((tmp_path / "backups").iterdir())


@pytest.mark.parametrize(
    ("table", "column", "damage", "problem"),
    [
        ("events", "valid_time", "yesterday", "has the time 'yesterday'"),
        ("events", "transaction_time", b"\xff", "has the time"),
        ("memory_records", "created_at", "", "has the time ''"),
        ("memory_records", "facts_json", "[", "no JSON"),
        ("memory_records", "concepts_json", "", "no JSON"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_and_nothing_is_changed(
    path: Path, table: str, column: str, damage: str | bytes, problem: str
) -> None:
    key, row_id = ("event_id", event_id(3)) if table == "events" else ("record_id", record_id(2))
    change(path, f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {key} = ?", damage, row_id)  # noqa: S608  # names of ours
    before = path.read_bytes()
    with pytest.raises(StorageCorrupt, match=problem) as caught:
        trio.run(opened, path)
    assert row_id in str(caught.value)
    assert path.read_bytes() == before
    assert copies(path) == []
    # After the hint's command, the upgrade goes on.
    change(path, caught.value.hint.partition('"')[2].rstrip('"'))

    async def scenario() -> None:
        storage = await opened(path)
        await storage.close()

    trio.run(scenario)


def test_a_damaged_page_is_found_before_anything_is_changed(path: Path) -> None:
    database = apsw.Connection(str(path))
    page_size = database.pragma("page_size")
    root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").get
    database.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * page_size + 8)
        file.write(b"\xff" * 6)
    before = path.read_bytes()
    with pytest.raises(StorageCorrupt, match="is damaged"):
        trio.run(opened, path)
    assert path.read_bytes() == before


def test_without_room_nothing_is_begun(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": 1000}))
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"needs 0\.0 GB of free space") as caught:
        trio.run(opened, path)
    assert caught.value.hint.startswith("Free some disk space.")
    assert (path.read_bytes(), copies(path)) == (before, [])


@pytest.mark.parametrize("stage", list(UpgradeStage))
def test_an_upgrade_that_is_cancelled_is_undone(path: Path, stage: UpgradeStage) -> None:
    # So many pages that copying takes several steps.
    many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, ? FROM n"
    change(path, f"INSERT INTO memory_records_fts (record_id, title) {many}", "x" * 100_000)
    before = content(path)

    async def scenario() -> None:
        with trio.CancelScope() as scope:

            def stop(progress: UpgradeProgress) -> None:
                if progress.stage is stage:
                    trio.from_thread.run_sync(scope.cancel)

            await opened(path, stop)
        assert scope.cancelled_caught

    trio.run(scenario)
    assert (content(path), copies(path)) == (before, [])


def test_the_copy_of_an_upgrade_whose_end_was_not_seen_gets_its_name(path: Path) -> None:
    async def scenario() -> None:
        await (await opened(path)).close()
        (path.parent / "backups" / COPY).rename(path.parent / "backups" / "kiro-learn-v5.db.unfinished")
        await (await opened(path)).close()

    trio.run(scenario)
    assert copies(path) == [COPY]


def test_what_stands_under_another_namespace_moves_to_the_one_in_use(path: Path) -> None:
    """The namespace in use exists already. The records are found there by their words, and count as its own."""
    context = MigrationContext(
        namespace_in_use=lambda namespace, _actor, _path: MINE if namespace == OTHERS else Namespace(namespace)
    )

    async def scenario() -> None:
        storage = await opened(path, context=context)
        found = await search_records(storage, SearchParams(MINE, "elsewhere migrating", 9))
        assert {item.record_id for item in found} == {record_id(2), record_id(3)}
        assert [each.namespace for each in await storage.list_projects()] == [MINE]
        assert (await storage.list_events(namespace=MINE, limit=9, cursor=None)).total == 3
        await transact_one(storage, lambda tx: tx.put_event(event(9, namespace=OTHERS), size_bytes=1, buffered=True))
        assert (await storage.get_stats(None)).total_projects == 2
        await storage.close()

    trio.run(scenario)
    database = apsw.Connection(str(path))
    assert database.execute("PRAGMA integrity_check").get == "ok"
    database.pragma("foreign_keys", True)
    assert not database.execute("PRAGMA foreign_key_check").fetchall()


@pytest.mark.parametrize(
    ("namespace", "actor_id", "ours"),
    [
        ("/actor/a%b/project/p/", "a%b", "/actor/a%25b/project/p/"),
        ("/actor/a%25b/project/p/", "a%b", "/actor/a%25b/project/p/"),
        ("/actor/ann/project/p/", "ann", "/actor/ann/project/p/"),
        ("no namespace", "ann", "no namespace"),
    ],
)
def test_a_namespace_of_the_first_kiro_learn_is_written_as_we_write_it(
    namespace: str, actor_id: str, ours: str
) -> None:
    assert within_our_limits(namespace, actor_id=actor_id) == ours


@pytest.mark.parametrize("strange", ["", "no namespace", "/actor/ann/project//"])
def test_what_is_no_namespace_at_all_spoils_no_list(path: Path, strange: str) -> None:
    change(path, "UPDATE events SET namespace = ? WHERE namespace = ?", strange, OTHERS)

    async def scenario() -> None:
        storage = await opened(path)
        assert {each.namespace for each in await storage.list_projects()} == {MINE, OTHERS, strange}
        assert (await storage.get_stats(None)).total_projects == 3
        await storage.close()

    trio.run(scenario)


@pytest.mark.parametrize("long", [f"/actor/ann/project/{'p' * 400}/", f"/actor/{'n' * 400}/project/p/"])
def test_a_namespace_beyond_our_limits_is_listed_counted_and_learned_from(path: Path, long: str) -> None:
    change(path, "UPDATE events SET namespace = ? WHERE namespace = ?", long, OTHERS)
    change(path, "UPDATE memory_records SET namespace = ? WHERE namespace = ?", long, OTHERS)

    async def scenario() -> None:
        storage = await opened(path)
        counts = {each.namespace: (each.event_count, each.memory_count) for each in await storage.list_projects()}
        ours = within_our_limits(long, actor_id="ann")
        assert counts == {MINE: (2, 2), ours: (1, 1)}
        await put_event(storage, event(9, namespace=ours))
        await storage.close()

    trio.run(scenario)


def test_nothing_that_stands_in_an_old_buffer_stops_the_upgrade(path: Path) -> None:
    folder = path.parent / "buffers"
    for name in "abcd":
        (folder / name).mkdir(parents=True)
    half = chr(0xD800)
    summary = {
        "event_id": f"compact_{event_id(7)}",
        "namespace": OTHERS,
        "body": {"content": f"What went {half} before."},
        "timestamp": "2026-04-01T09:00:00.000Z",
        "surface": "kiro-cli",
    }
    lines = [
        {"event_id": half},
        summary | {"namespace": f"/actor/{half}/project/x/"},
        summary | {"namespace": "a/b/c/d/e/f"},
        summary | {"namespace": ["a"]},
        summary | {"surface": {"a": 1}},
        summary | {"body": {"content": 5}},
        [5],
        summary,
    ]
    (folder / "a" / "buffer.ndjson").write_text("\n".join(json.dumps(line) for line in lines))
    (folder / "b" / "buffer.ndjson").mkdir()
    os.mkfifo(folder / "c" / "buffer.ndjson")
    (folder / "d" / "buffer.ndjson").symlink_to(folder / "nowhere")
    context = MigrationContext(first_buffers=folder)

    async def scenario() -> None:
        storage = await opened(path, context=context)
        waiting = (await storage.snapshot_buffer(OTHERS, most_bytes=100_000)).entries
        assert [entry.event.body for entry in waiting] == [TextBody("What went ? before.")]
        assert list(await storage.list_buffers()) == [OTHERS]
        await storage.close()

    trio.run(scenario)


def test_what_the_first_kiro_learn_had_buffered_waits_in_its_order(path: Path) -> None:
    folder = path.parent / "buffers" / ("a" * 64)
    folder.mkdir(parents=True)
    summary = {
        "event_id": f"compact_{event_id(7)}",
        "namespace": OTHERS,
        "kind": "session_summary",
        "body": {"type": "text", "content": "What went before."},
        "timestamp": "2026-04-01T09:00:00.000Z",
        "surface": "kiro-cli",
    }
    lines = [
        json.dumps(summary),
        json.dumps({"event_id": event_id(3), "namespace": MINE}),
        "",
        '{"event_id": "half',
        json.dumps({"event_id": event_id(8), "namespace": MINE}),
        json.dumps({"event_id": event_id(1), "namespace": MINE}),
        json.dumps({"event_id": event_id(1), "namespace": MINE}),
    ]
    (folder / "buffer.ndjson").write_text("\n".join(lines))
    context = MigrationContext(
        namespace_in_use=lambda _namespace, _actor, _path: MINE, first_buffers=path.parent / "buffers"
    )

    async def scenario() -> None:
        storage = await opened(path, context=context)
        waiting = (await storage.snapshot_buffer(MINE, most_bytes=100_000)).entries
        assert [entry.event.event_id for entry in waiting] == [event_id(7), event_id(3), event_id(1)]
        assert waiting[0].event.body == TextBody("What went before.")
        assert all(entry.size_bytes > 0 for entry in waiting)
        await transact_one(storage, lambda tx: tx.clear_buffer(MINE, through=waiting[-1].position))
        await storage.close()
        again = await opened(path, context=context)
        assert not (await again.snapshot_buffer(MINE, most_bytes=100_000)).entries
        await again.close()

    trio.run(scenario)
