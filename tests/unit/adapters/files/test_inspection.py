"""A database that vanished is not taken for one that never was."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.inspection import note_begun, refuse_vanished, traces_of_database
from kiro_learn.errors import DatabaseGone

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.prepare()
    return home


def test_a_new_home_has_none_and_may_begin(home: Home) -> None:
    (home.spool.folder / "1-x-3").write_bytes(b"a hook came before the first daemon")
    (home.logs / "daemon.jsonl").write_text('{"event": "process.failed"}\n')
    home.database.touch()
    assert traces_of_database(home) == ()
    refuse_vanished(home, NOW)


def leave(home: Home, trace: str) -> str:
    """Leave a trace of a database in the home; returns how a check names it."""
    match trace:
        case "mark":
            note_begun(home, NOW)
            return "daemon.began says since 2026-01-05T12:00:00Z"
        case "copy":
            (home.backups / "kiro-learn-v33-20260101T000000Z.db").write_bytes(b"copy")
            return "backups has 1 copy"
        case "log":
            (home.path / "kiro-learn.db-wal").write_bytes(b"last writes")
            return "kiro-learn.db-wal is there"
        case _:
            (home.logs / "daemon.jsonl.1").write_text('{"event": "daemon.ready", "port": 1}\n')
            return "logs has a daemon that was ready"


@pytest.mark.parametrize("is_empty", [False, True])
@pytest.mark.parametrize("trace", ["mark", "copy", "log", "daemon"])
def test_each_trace_is_told_and_nothing_begins(home: Home, trace: str, is_empty: bool) -> None:
    said = leave(home, trace)
    if is_empty:
        home.database.touch()
    assert traces_of_database(home) == (said,)
    with pytest.raises(DatabaseGone, match=said):
        refuse_vanished(home, NOW)
    assert home.database.exists() == is_empty


def test_events_that_wait_are_told_beside_another_trace(home: Home) -> None:
    leave(home, "mark")
    (home.spool.folder / "1-x-3").write_bytes(b"sealed")
    assert traces_of_database(home)[1:] == ("spool has 1 event",)


def test_the_user_may_say_that_one_begins_and_what_is_left_is_kept(home: Home) -> None:
    leave(home, "mark")
    leave(home, "log")
    home.database.touch()
    (home.path / "daemon.anew").touch()
    refuse_vanished(home, NOW)
    kept = home.backups / "damaged-20260105T120000Z"
    assert sorted(path.name for path in kept.iterdir()) == ["kiro-learn.db", "kiro-learn.db-wal"]
    assert not list(home.path.glob("kiro-learn.db*"))
    note_begun(home, NOW)
    with pytest.raises(DatabaseGone):
        refuse_vanished(home, NOW)  # the permission was for one only


def test_a_database_that_is_there_is_left_alone(home: Home) -> None:
    leave(home, "mark")
    (home.path / "daemon.anew").touch()
    home.database.write_bytes(b"whatever is in it")
    refuse_vanished(home, NOW)
    assert home.database.read_bytes() == b"whatever is in it"
