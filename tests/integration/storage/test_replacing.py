"""Restoring and saving lose no earlier file, and do not touch a running daemon's file.

A kill at any moment leaves either the old database or the new one.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.sqlite.copies import SqliteCopies
from kiro_learn.adapters.sqlite.mending.replacing import SqliteReplacement
from kiro_learn.errors import AlreadyRunning, StorageCorrupt
from kiro_learn.model.backup import BackupCopy, CopyKind, NewerThanCopy
from tests.integration.storage.test_copies import COUNT, copies_in, damage, fill
from tests.unit.storage.builders import DAWN, record_id


def replacement_in(home: Path) -> SqliteReplacement:
    place = Home(home)
    return SqliteReplacement(place.database, place.backups, place.lock, lambda: DAWN)


@pytest.fixture
def copies(tmp_path: Path) -> SqliteCopies:
    """The copies of a home with one event and some memories."""
    home = Home(tmp_path / "home")
    home.prepare()
    trio.run(fill, home.database)
    return copies_in(home.path)


@pytest.fixture
def made(copies: SqliteCopies) -> BackupCopy:
    """A copy. After it, a memory got another id, and a session was noted."""
    copy = copies.take(CopyKind.DAILY, DAWN)
    with closing(apsw.Connection(str(copies.database))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO hook_sessions VALUES ('newer', 's')")
        connection.execute("UPDATE memory_records SET record_id = 'mr_newer' WHERE record_id = ?", (record_id(1),))
    return copy


def sessions(path: Path) -> list[str]:
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert connection.execute("SELECT count(*) FROM memory_records").get == COUNT
        return [row[0] for row in connection.execute("SELECT key FROM hook_sessions")]


def test_a_copy_takes_the_place_and_what_was_there_is_kept(copies: SqliteCopies, made: BackupCopy) -> None:
    replacement = replacement_in(copies.database.parent)
    assert replacement.newer_than(made) == NewerThanCopy(memory_count=1)
    before = made.path.read_bytes()
    kept = replacement.put(made)
    assert kept is not None
    assert sessions(copies.database) == []
    assert sessions(kept / "kiro-learn.db") == ["newer"]
    assert made.path.read_bytes() == before
    assert stat.S_IMODE(copies.database.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    (put_aside,) = (copy for copy in copies.copies() if copy.kind is CopyKind.REPLACED)
    assert replacement.put(put_aside)
    assert sessions(copies.database) == ["newer"]


def test_what_is_in_the_log_alone_is_kept_too(copies: SqliteCopies, made: BackupCopy) -> None:
    """A killed daemon leaves a log, and SQLite would read the log of the old database into the new one."""
    database = copies.database
    with closing(apsw.Connection(str(database))) as connection:
        connection.execute("INSERT INTO hook_sessions VALUES ('in the log', 's')")
        saved = {each.name: each.read_bytes() for each in database.parent.glob("kiro-learn.db*")}
    assert len(saved) == 3
    for name, content in saved.items():
        (database.parent / name).write_bytes(content)
    kept = replacement_in(database.parent).put(made)
    assert kept is not None
    assert sessions(database) == []
    assert sessions(kept / "kiro-learn.db") == ["in the log", "newer"]


def test_a_running_daemons_file_is_not_touched(copies: SqliteCopies, made: BackupCopy) -> None:
    home = Home(copies.database.parent)
    with home.lock():
        with pytest.raises(AlreadyRunning):
            replacement_in(home.path).put(made)
        with pytest.raises(AlreadyRunning):
            replacement_in(home.path).salvage(None)
    assert sessions(copies.database) == ["newer"]


def test_a_copy_that_rotted_takes_no_place(copies: SqliteCopies, made: BackupCopy) -> None:
    damage(made.path)
    with pytest.raises(StorageCorrupt, match="is damaged"):
        replacement_in(copies.database.parent).put(made)
    assert sessions(copies.database) == ["newer"]
    assert [path.name for path in copies.database.parent.glob(".kiro-learn.db.*")] == []


@pytest.mark.parametrize("there", ["nothing", "nothing but a log", "a folder", "a link"])
def test_whatever_is_there_a_copy_takes_its_place(copies: SqliteCopies, made: BackupCopy, there: str) -> None:
    database = copies.database
    for path in database.parent.glob("kiro-learn.db*"):
        path.unlink()
    if there == "a folder":
        database.mkdir()
        (database / "somebody's").write_text("file")
    elif there == "a link":
        database.symlink_to("nowhere")
    elif there == "nothing but a log":
        Path(f"{database}-wal").write_bytes(b"log" * 1000)
    replacement = replacement_in(database.parent)
    assert replacement.newer_than(made).problem
    kept = replacement.put(made)
    assert sessions(database) == []
    assert (kept is None) == (there == "nothing")
    if there == "a folder":
        assert kept is not None
        assert (kept / "kiro-learn.db" / "somebody's").read_text() == "file"


STRIDE = int(os.environ.get("KILL_STRIDE", "4"))
"""The distance between the moments that are tried."""
KILLED = """
import os, signal, sys
from pathlib import Path
from kiro_learn.model.backup import CopyKind
from tests.integration.storage.test_copies import copies_in
from tests.integration.storage.test_replacing import replacement_in
home, moment, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
replacement = replacement_in(home)
(copy,) = (each for each in copies_in(home).copies() if each.kind is CopyKind.DAILY)
seen = 0
def watch(event, _arguments):
    global seen
    if event in {"os.link", "os.rename", "os.remove", "os.mkdir"} or event == "open":
        seen += 1
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
replacement.put(copy) if what == "put" else replacement.salvage(None)
seen = 10**9
"""


@pytest.mark.parametrize("what", ["put", "salvage"])
def test_a_kill_at_any_moment_leaves_the_database_of_before_or_of_after(
    copies: SqliteCopies, made: BackupCopy, what: str
) -> None:
    home = copies.database.parent
    found, moment = [], 0
    while True:
        moment += STRIDE
        arguments = [sys.executable, "-c", KILLED, str(home), str(moment), what]
        done = subprocess.run(arguments, cwd=Path(__file__).parents[3], capture_output=True, check=False)
        found.append(tuple(sessions(copies.database)))
        assert not copies.look_into(made).problem
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
        if found[-1] == ():  # restored for the next moment
            (kept, *_) = home.glob("backups/replaced-*")
            replacement_in(home).put(
                BackupCopy(path=kept / "kiro-learn.db", kind=CopyKind.REPLACED, made_at=DAWN, bytes=1)
            )
    assert moment > STRIDE, "there is hardly a moment to be killed at: the test would prove nothing"
    assert set(found) <= {("newer",), ()}
    assert found[-1] == (() if what == "put" else ("newer",))
