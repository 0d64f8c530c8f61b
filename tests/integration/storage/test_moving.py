"""A memory that is moved to a server and back has all rows, even if a move was cut off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import begin
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageError
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.testing.storage import put_event, search_records, transact_one
from tests.integration.storage.test_salvage import fill
from tests.postgres import PostgresForTests, postgres_server
from tests.unit.storage.builders import DAWN, MINE, event

pytest.importorskip("psycopg")
moving = pytest.importorskip("kiro_learn.adapters.postgres.moving")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresForTests]:
    with postgres_server() as running:
        yield running


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "kiro_learn.db"
    trio.run(fill, path)
    return path


@pytest.fixture
def url(server: PostgresForTests) -> Iterator[str]:
    """The URL of an empty database."""
    server.admin.execute("CREATE DATABASE moved TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'")
    try:
        yield server.url.replace("/postgres?", "/moved?")
    finally:
        server.admin.execute("DROP DATABASE moved WITH (FORCE)")


class Cut(Exception):
    """Stands for a kill at this moment."""


def untold(_table: str, _done: int, _total: int | None) -> None: ...


def rows_of(path: Path) -> dict[str, list[Any]]:
    with closing(apsw.Connection(str(path))) as connection:
        return {
            table.name: connection.execute(table.reading, {"limit": -1, "done": 0}).fetchall()
            for table in moving.moved_tables()
        }


def back(url: str, folder: Path, **options: Any) -> Path:
    (folder / "backups").mkdir(parents=True)
    path = folder / "kiro_learn.db"
    moving.move_to_file(url, path, folder / "backups", untold, anew=False, utc_now=lambda: DAWN, **options)
    return path


def test_every_table_is_moved() -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        begin(connection, MIGRATIONS, utc_now=lambda: DAWN)
        there = {
            name
            for (name,) in connection.execute(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                " AND name NOT LIKE 'sqlite%' AND name <> '_migrations'"
            )
        }
        references = [
            (table.name, other)
            for table in moving.moved_tables()
            for (other,) in connection.execute(
                'SELECT "table" FROM pragma_foreign_key_list(:table)', {"table": table.name}
            )
        ]
    order = [table.name for table in moving.moved_tables()]
    assert set(order) == there
    assert [pair for pair in references if order.index(pair[1]) > order.index(pair[0])] == []


def test_all_rows_go_to_the_server_and_back(filled: Path, url: str, tmp_path: Path) -> None:
    before = rows_of(filled)
    counts = moving.move_to_server(filled, url, untold, anew=False)
    assert counts == {name: len(rows) for name, rows in before.items()}
    assert counts["memory_records"] > 100
    assert rows_of(filled) == before
    assert rows_of(back(url, tmp_path / "back")) == before


def test_words_are_found_and_numbers_go_on_on_both_sides(filled: Path, url: str, tmp_path: Path) -> None:
    from kiro_learn.adapters.postgres.storage import open_postgres_storage  # noqa: PLC0415  # of an extra

    moving.move_to_server(filled, url, untold, anew=False)

    async def main() -> None:
        here = await open_sqlite_storage(filled, StorageConfig(), utc_now=lambda: DAWN)
        there = await open_postgres_storage(url, StorageConfig(), utc_now=lambda: DAWN)
        params = SearchParams(namespace=MINE, query="word", limit=20)
        found = [[each.record_id for each in await search_records(store, params)] for store in (here, there)]
        await transact_one(there, lambda tx: tx.put_event(event(9_001), buffered=True))
        for store in (here, there):
            await store.close()
        assert found[0] == found[1] != []

    trio.run(main)
    with closing(apsw.Connection(str(back(url, tmp_path / "back")))) as connection:
        assert connection.execute("SELECT count(*) FROM events WHERE event_id = ?", (event(9_001).event_id,)).get == 1
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'buffer'").get
    with closing(apsw.Connection(str(filled))) as connection:
        assert last > connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'buffer'").get


@pytest.mark.parametrize("reports", [1, 3, 6, 9])
def test_a_move_that_was_cut_off_goes_on(
    filled: Path, url: str, tmp_path: Path, reports: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kiro_learn.adapters.postgres.storage import look_at, open_postgres_storage  # noqa: PLC0415  # of an extra

    monkeypatch.setattr(moving, "ROWS_AT_ONCE", 60)
    told: list[tuple[str, int, int | None]] = []

    def tell(*progress: Any) -> None:
        told.append(progress)

    def cut(*progress: Any) -> None:
        tell(*progress)
        if len(told) == reports:
            raise Cut

    with pytest.raises(Cut):
        moving.move_to_server(filled, url, cut, anew=False)
    with pytest.raises(StorageError, match="has not ended"):
        trio.run(lambda: open_postgres_storage(url, StorageConfig(), utc_now=lambda: DAWN))
    assert "has not ended" in look_at(url).problem
    counts = moving.move_to_server(filled, url, tell, anew=False)
    copied = [each for each in told if each[2] is not None]
    assert len(set(copied)) == len(copied), "no row was copied twice"
    assert rows_of(back(url, tmp_path / "back")) == rows_of(filled)
    assert moving.move_to_server(filled, url, untold, anew=False) == counts, "it is there already"


def test_what_changed_since_it_was_cut_off_is_noticed(
    filled: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "ROWS_AT_ONCE", 60)
    path = tmp_path / "kiro_learn.db"
    path.write_bytes(filled.read_bytes())
    told = 0

    def cut(*_: Any) -> None:
        nonlocal told
        told += 1
        if told == 6:
            raise Cut

    with pytest.raises(Cut):
        moving.move_to_server(path, url, cut, anew=False)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "DELETE FROM events WHERE rowid = (SELECT min(rowid) FROM events AS e"
            " WHERE e.event_id NOT IN (SELECT event_id FROM buffer WHERE event_id IS NOT NULL))"
        )
        connection.execute("UPDATE namespaces SET last_record = last_record + 1")
    with pytest.raises(StorageError, match=r"differs|does not take") as raised:
        moving.move_to_server(path, url, untold, anew=False)
    assert "--anew" in raised.value.hint
    moving.move_to_server(path, url, untold, anew=True)
    assert rows_of(back(url, tmp_path / "back")) == rows_of(path)


def test_a_database_with_another_memory_is_left_alone(server: PostgresForTests, filled: Path) -> None:
    async def fill_server() -> None:
        store = await server.open(utc_now=lambda: DAWN)
        try:
            await put_event(store, event(1))
        finally:
            await store.close()

    trio.run(fill_server)
    with pytest.raises(StorageError, match="differs"):
        moving.move_to_server(filled, server.url, untold, anew=True)
    assert server.admin.execute("SELECT count(*) FROM kiro_learn.events").fetchone() == (1,)


def test_a_file_that_was_there_is_kept(filled: Path, url: str, tmp_path: Path) -> None:
    moving.move_to_server(filled, url, untold, anew=False)
    folder = tmp_path / "home"
    (folder / "backups").mkdir(parents=True)
    (folder / "kiro_learn.db").write_bytes(filled.read_bytes())
    counts, kept = moving.move_to_file(
        url, folder / "kiro_learn.db", folder / "backups", untold, anew=False, utc_now=lambda: DAWN
    )
    assert rows_of(kept / "kiro_learn.db") == rows_of(folder / "kiro_learn.db")
    assert json.dumps(counts)
    assert sorted(each.name for each in folder.iterdir()) == ["backups", "kiro_learn.db"]
