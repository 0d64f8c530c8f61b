"""A database of another program is read whatever the program does with it, and is left unchanged."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kiro_learn.adapters.histories import foreign_database as module
from kiro_learn.adapters.histories.foreign_database import DAMAGED, TOO_LONG, Row, foreign_database
from kiro_learn.ports.histories import HELD
from tests.unit.adapters.histories.homes.databases import write_database
from tests.unit.adapters.histories.telling import Count

TABLES = frozenset({"said"})
SCHEMA = "CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE auth_kv (key TEXT);"
OLDER = [("INSERT INTO said VALUES (?, ?)", (1, "older"))]
NEWEST = [("INSERT INTO said VALUES (?, ?)", (2, "newest"))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_database(tmp_path / "their own.db", SCHEMA, OLDER, NEWEST)
    return tmp_path / "their own.db"


def said(path: Path, skipped: Count | None = None) -> list[Row]:
    with foreign_database(path, TABLES, skipped or Count()) as database:
        return database.all(("id", "text"), "FROM said ORDER BY id")


def test_what_stands_in_the_log_alone_is_read(path: Path) -> None:
    assert said(path) == [("1", "older"), ("2", "newest")]


def test_a_folder_is_left_as_it_was(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    assert list(before) == [path.name]
    assert len(said(path)) == 2
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_what_another_program_holds_for_itself_is_read_from_a_copy(
    path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0)
    with closing(apsw.Connection(str(path))) as theirs:
        theirs.execute(f"PRAGMA journal_mode = {mode}")
        theirs.execute("PRAGMA locking_mode = EXCLUSIVE")
        theirs.execute("BEGIN EXCLUSIVE")
        theirs.execute("INSERT INTO said VALUES (3, 'under way')")
        skipped = Count()
        assert said(path, skipped) == [("1", "older"), ("2", "newest")]
        assert skipped.reasons == {}


def test_a_large_one_that_is_held_is_not_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0)
    monkeypatch.setattr(module, "MOST_COPIED_BYTES", 100)
    with closing(apsw.Connection(str(path))) as theirs:
        theirs.execute("PRAGMA journal_mode = DELETE")
        theirs.execute("BEGIN EXCLUSIVE")
        skipped = Count()
        assert said(path, skipped) == []
        assert skipped.reasons == {HELD: 1}


def test_no_statement_is_open_between_two_values(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as theirs:
        theirs.execute("PRAGMA journal_mode = DELETE")
        with foreign_database(path, TABLES, Count()) as database:
            assert database.one(("text",), "FROM said") == ("older",)
            theirs.execute("INSERT INTO said VALUES (3, 'meanwhile')")
            assert database.one(("text",), "FROM said WHERE id = ?", 3) == ("meanwhile",)


def test_other_tables_cannot_be_read(path: Path) -> None:
    skipped = Count()
    with foreign_database(path, TABLES, skipped) as database:
        assert database.all(("key",), "FROM auth_kv") == []
        assert database.columns("auth_kv") == frozenset()
        assert database.columns("said") == {"id", "text"}
    assert skipped.reasons == {DAMAGED: 2}


def test_a_value_that_is_too_long_is_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 5)
    skipped = Count()
    assert said(path, skipped) == [("1", "older"), ("2", None)]
    assert skipped.reasons == {TOO_LONG: 1}


def test_bytes_that_are_no_text_are_replaced(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as theirs:
        theirs.execute("INSERT INTO said VALUES (3, CAST(x'61ff62' AS TEXT))")
    assert said(path)[-1] == ("3", "a\ufffdb")


def test_a_statement_that_does_not_end_is_ended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEPS_BETWEEN_COUNTS", 100)
    monkeypatch.setattr(module, "MOST_STEPS", 1_000)
    skipped = Count()
    with foreign_database(path, TABLES, skipped) as database:
        endless = "FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)"
        assert database.all(("i",), endless) == []
    assert skipped.reasons == {DAMAGED: 1}
