"""Copies of the database are whole, checked, private and bounded in number; a failed one leaves nothing."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.copies import Interrupted, SqliteCopies
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageBusy, StorageCorrupt, StorageError
from kiro_learn.model.backup import CopyContents, CopyKind
from kiro_learn.testing.storage import put_event, put_record
from tests.integration.storage.test_erasing import found_in, mark
from tests.unit.storage.builders import DAWN, event, record, record_id
from tests.unit.storage.contract_graph import entity, fact

DAY = timedelta(days=1)
COUNT = 30
NOW = DAWN + 30 * DAY


async def fill(path: Path) -> None:
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
    await put_event(storage, event(1))
    for number in range(COUNT):
        await put_record(storage, record(number, f"about {mark(number)}", summary=f"{mark(number)} and more"))
    await storage.close()


@pytest.fixture
def copies(tmp_path: Path) -> SqliteCopies:
    """The copies of a home with one event and some memories."""
    home = tmp_path / "home"
    (home / "backups").mkdir(mode=0o700, parents=True)
    trio.run(fill, home / "kiro-learn.db")
    return copies_in(home)


def copies_in(home: Path, *, folder: Path | None = None, most_bytes: int = 10**9) -> SqliteCopies:
    return SqliteCopies(
        database=home / "kiro-learn.db",
        home_folder=home / "backups",
        folder=folder or home / "backups",
        keep_count=3,
        most_bytes=most_bytes,
        utc_now=lambda: NOW,
    )


def names(copies: SqliteCopies) -> list[str]:
    return sorted(path.name for path in copies.folder.iterdir())


def test_a_copy_holds_everything_and_is_one_file_of_its_owner_alone(copies: SqliteCopies) -> None:
    made = copies.take(CopyKind.ASKED, DAWN)
    assert names(copies) == [f"kiro-learn-asked-{DAWN:%Y%m%dT%H%M%SZ}.db"]
    assert copies.copies() == (made,)
    assert copies.look_into(made) == CopyContents(event_count=1, memory_count=COUNT)
    assert names(copies) == [made.name]
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600


def test_what_is_written_while_a_copy_is_made_neither_harms_nor_restarts_it(copies: SqliteCopies) -> None:
    """A writer commits between any two steps; the copy is the state at its beginning."""
    writer = apsw.Connection(str(copies.database))
    steps = 0

    def write() -> bool:
        nonlocal steps
        steps += 1
        writer.execute("INSERT INTO hook_sessions VALUES (?, 's')", (str(steps),))
        assert steps < 10_000, "the copying begins again and again"
        return False

    made = copies.take(CopyKind.DAILY, DAWN, interrupted=write)
    assert steps
    connection = apsw.Connection(str(made.path))
    assert connection.execute("SELECT count(*) FROM hook_sessions").get == 0
    assert connection.execute("PRAGMA integrity_check").get == "ok"


def test_daily_copies_are_kept_in_number_beside_those_that_were_asked_for(copies: SqliteCopies) -> None:
    asked = copies.take(CopyKind.ASKED, DAWN)
    days = [copies.take(CopyKind.DAILY, DAWN + day * DAY) for day in range(5)]
    assert copies.copies() == (*reversed(days[2:]), asked)


def test_space_is_bounded_but_for_the_newest_copy(copies: SqliteCopies) -> None:
    copies = copies_in(copies.database.parent, most_bytes=1)
    for day in range(3):
        newest = copies.take(CopyKind.DAILY, DAWN + day * DAY)
    assert copies.copies() == (newest,)


def test_a_copy_dated_by_a_clock_that_ran_ahead_takes_the_place_of_no_later_one(copies: SqliteCopies) -> None:
    first, second, third = (copies.take(CopyKind.ASKED, NOW + day * DAY) for day in range(1, 4))
    made = copies.take(CopyKind.ASKED, NOW)
    assert copies.copies() == (made, third, second)
    assert not first.path.exists()


def test_a_copy_made_while_the_clock_steps_back_is_kept(copies: SqliteCopies) -> None:
    for day in range(5, 0, -1):
        copies.take(CopyKind.DAILY, NOW - day * DAY)
    made = copies.take(CopyKind.DAILY, NOW + timedelta(seconds=2))
    assert made.path.exists()


def test_copies_of_upgrades_and_what_was_put_aside_are_listed_and_stay(copies: SqliteCopies) -> None:
    shutil.copy(copies.database, copies.folder / "kiro-learn-v33-20260101T000000Z.db")
    aside = copies.folder / "damaged-20260102T000000Z"
    aside.mkdir()
    shutil.copy(copies.database, aside / "kiro-learn.db")
    shutil.copy(copies.database, copies.folder / "mine.db")
    for day in range(5):
        copies.take(CopyKind.DAILY, DAWN + day * DAY)
    kinds = {copy.name: copy.kind for copy in copies.copies()}
    assert kinds["kiro-learn-v33-20260101T000000Z.db"] is CopyKind.UPGRADE
    assert kinds["damaged-20260102T000000Z"] is CopyKind.DAMAGED
    assert kinds["mine.db"] is CopyKind.OTHER
    (damaged,) = (copy for copy in copies.copies() if copy.kind is CopyKind.DAMAGED)
    copies.remove(damaged)
    assert not aside.exists()


def test_two_copies_of_one_second_do_not_meet(copies: SqliteCopies) -> None:
    first, second = copies.take(CopyKind.ASKED, DAWN), copies.take(CopyKind.ASKED, DAWN)
    assert {copy.path for copy in copies.copies()} == {first.path, second.path}
    assert len({first.path, second.path}) == 2


def damage(path: Path) -> None:
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        page: int = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_records'").get
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))


def test_a_damaged_database_leaves_no_copy_and_costs_none(copies: SqliteCopies) -> None:
    before = [copies.take(CopyKind.DAILY, DAWN + day * DAY).name for day in range(3)]
    damage(copies.database)
    with pytest.raises(StorageCorrupt):
        copies.take(CopyKind.DAILY, DAWN + 9 * DAY)
    assert names(copies) == before


def test_a_damaged_index_of_words_is_no_reason_not_to_copy(copies: SqliteCopies) -> None:
    with apsw.Connection(str(copies.database)) as connection:
        connection.execute("UPDATE records_fts_1_data SET block = zeroblob(length(block)) WHERE id = 10")
    made = copies.take(CopyKind.DAILY, DAWN)
    assert copies.look_into(made) == CopyContents(event_count=1, memory_count=COUNT)


def test_checking_finds_the_copy_that_rotted(copies: SqliteCopies) -> None:
    sound, rotten = copies.take(CopyKind.DAILY, DAWN), copies.take(CopyKind.DAILY, DAWN + DAY)
    damage(rotten.path)
    assert copies.look_into(rotten).problem
    assert not copies.look_into(sound).problem


def test_what_is_no_copy_of_a_memory_is_named_as_none(copies: SqliteCopies) -> None:
    (copies.folder / "empty.db").write_bytes(b"")
    with apsw.Connection(str(copies.folder / "other.db")) as other:
        other.execute("CREATE TABLE notes (words TEXT)")
    for copy in copies.copies():
        problem = f"{copy.path} holds no memory of kiro-learn"
        assert copies.look_into(copy) == copies.count(copy) == CopyContents(problem=problem)


def test_an_interrupted_copy_leaves_nothing(copies: SqliteCopies) -> None:
    with pytest.raises(Interrupted):
        copies.take(CopyKind.DAILY, DAWN, interrupted=lambda: True)
    assert names(copies) == []


def test_what_a_killed_one_left_is_removed_by_the_next(copies: SqliteCopies) -> None:
    for left in (
        "kiro-learn-daily-20260101T000000Z.db.partial",
        "kiro-learn-daily-20260101T000000Z.db.partial-journal",
    ):
        (copies.folder / left).write_bytes(b"half")
    assert copies.copies() == ()
    made = copies.take(CopyKind.DAILY, DAWN)
    assert names(copies) == [made.name]


KILLED = """
import os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
from typing import NamedTuple
from kiro_learn.model.backup import CopyKind
from tests.integration.storage.test_copies import copies_in
step = 0
def interrupted():
    global step
    step += 1
    if step == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return False
copies_in(Path(sys.argv[1])).take(CopyKind.DAILY, datetime(2026, 5, 1, tzinfo=UTC), interrupted=interrupted)
"""


@pytest.mark.parametrize("step", [1, 2])
def test_a_kill_in_the_middle_harms_neither_the_database_nor_the_next_copy(copies: SqliteCopies, step: int) -> None:
    before = copies.take(CopyKind.DAILY, DAWN)
    with apsw.Connection(str(copies.database)) as connection:  # so that copying takes several steps
        connection.execute("CREATE TABLE ballast AS SELECT zeroblob(10000000) AS weight")
    arguments = [sys.executable, "-c", KILLED, str(copies.database.parent), str(step)]
    killed = subprocess.run(arguments, cwd=Path(__file__).parents[3], check=False)
    assert killed.returncode == -9
    assert copies.copies() == (before,)
    assert copies.look_into(before) == CopyContents(event_count=1, memory_count=COUNT)
    made = copies.take(CopyKind.DAILY, DAWN + DAY)
    assert copies.look_into(made) == CopyContents(event_count=1, memory_count=COUNT)
    assert names(copies) == sorted([before.name, made.name])


def test_a_folder_that_is_a_symbolic_link_is_refused_as_one(copies: SqliteCopies, tmp_path: Path) -> None:
    copies.folder.symlink_to(copies.folder.rename(tmp_path / "elsewhere"))
    with pytest.raises(StorageError, match="is a symbolic link"):
        copies.take(CopyKind.ASKED, DAWN)


def test_one_who_finds_another_at_it_says_so(copies: SqliteCopies) -> None:
    def meanwhile() -> bool:
        with pytest.raises(StorageBusy):
            copies.take(CopyKind.DAILY, DAWN + DAY)
        return True

    with pytest.raises(Interrupted):
        copies.take(CopyKind.DAILY, DAWN, interrupted=meanwhile)


def test_another_folder_is_made_below_one_that_is_there_and_never_its_parent(
    copies: SqliteCopies, tmp_path: Path
) -> None:
    home, disk = copies.database.parent, tmp_path / "disk"
    elsewhere = copies_in(home, folder=disk / "kiro-learn-1")
    with pytest.raises(StorageError, match="no such file or directory"):
        elsewhere.take(CopyKind.DAILY, DAWN)
    disk.mkdir()
    made = elsewhere.take(CopyKind.DAILY, DAWN)
    assert made.path.parent == disk / "kiro-learn-1"
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    assert elsewhere.copies() == (made,)


@pytest.fixture
def elsewhere(copies: SqliteCopies, tmp_path: Path) -> SqliteCopies:
    """The copies of the same home on a mounted disk, with one copy."""
    (tmp_path / "disk").mkdir()
    elsewhere = copies_in(copies.database.parent, folder=tmp_path / "disk" / "kiro-learn-1")
    elsewhere.take(CopyKind.DAILY, DAWN)
    assert elsewhere.absence() == ""
    return elsewhere


def unmount(disk: Path) -> None:
    disk.rename(disk.with_name("unmounted"))
    disk.mkdir()


@pytest.mark.parametrize("is_empty", [True, False])
def test_where_the_disk_of_the_copies_is_not_mounted_nothing_is_written(
    elsewhere: SqliteCopies, is_empty: bool
) -> None:
    disk = elsewhere.folder.parent
    unmount(disk)
    if not is_empty:
        elsewhere.folder.mkdir()
    before = sorted(disk.rglob("*"))
    with pytest.raises(StorageError, match=f"copies were made in {elsewhere.folder}, .* mount its disk"):
        elsewhere.take(CopyKind.DAILY, DAWN + DAY)
    assert sorted(disk.rglob("*")) == before
    assert "mount its disk" in elsewhere.absence()

    for path in before:
        path.rmdir()
    disk.rmdir()
    assert "mount its disk" in elsewhere.absence()
    disk.with_name("unmounted").rename(disk)
    assert elsewhere.absence() == ""
    elsewhere.take(CopyKind.DAILY, DAWN + DAY)
    assert len(elsewhere.copies()) == 2


def test_another_disk_in_the_place_is_not_taken_for_it(elsewhere: SqliteCopies, copies: SqliteCopies) -> None:
    unmount(elsewhere.folder.parent)
    for path in copies.home_folder.iterdir():
        path.rename(path.with_name("put-away"))
    elsewhere.take(CopyKind.DAILY, DAWN)  # as if another home of this name did it
    (copies.home_folder / "put-away").rename(next(copies.home_folder.glob("folder-*")))
    with pytest.raises(StorageError, match="mount its disk"):
        elsewhere.take(CopyKind.DAILY, DAWN + DAY)


def test_the_command_that_is_named_lets_copies_begin_anew(elsewhere: SqliteCopies) -> None:
    unmount(elsewhere.folder.parent)
    with pytest.raises(StorageError) as refused:
        elsewhere.take(CopyKind.DAILY, DAWN)
    subprocess.run(["/bin/sh", "-c", refused.value.hint.partition("      ")[0]], check=True)
    elsewhere.take(CopyKind.DAILY, DAWN)
    assert elsewhere.absence() == ""


def test_a_folder_in_which_an_earlier_version_made_copies_is_marked_by_the_next(elsewhere: SqliteCopies) -> None:
    for path in (elsewhere.folder / "folder-id", *elsewhere.home_folder.glob("folder-*")):
        path.unlink()
    elsewhere.take(CopyKind.DAILY, DAWN + DAY)
    unmount(elsewhere.folder.parent)
    assert "mount its disk" in elsewhere.absence()


class Usage(NamedTuple):
    """The answer of ``shutil.disk_usage``."""

    total: int
    used: int
    free: int


def test_a_disk_without_room_is_named_before_anything_is_written(
    copies: SqliteCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 10**6))
    with pytest.raises(StorageError, match="of free space, and there are 1 MB"):
        copies.take(CopyKind.DAILY, DAWN)
    assert names(copies) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with 200 kB."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    arguments = ["mount", "-t", "tmpfs", "-o", "size=200k,mode=700", "tmpfs", str(mounted)]
    if subprocess.run(arguments, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)  # noqa: S607  # where umount lies differs


def test_a_disk_that_fills_up_meanwhile_is_named_and_no_half_copy_is_left(
    copies: SqliteCopies, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 10**12))
    full = copies_in(copies.database.parent, folder=small_disk)
    with pytest.raises(StorageError, match=f"no room for a copy in {small_disk}"):
        full.take(CopyKind.DAILY, DAWN)
    assert list(small_disk.iterdir()) == []


def test_what_is_forgotten_in_a_copy_is_in_no_byte_of_it_and_its_age_stays(copies: SqliteCopies) -> None:
    made = copies.take(CopyKind.DAILY, DAWN)
    untouched = copies.take(CopyKind.DAILY, DAWN + DAY)
    gone = [record_id(number) for number in range(3)]
    assert copies.change(made, lambda transaction: transaction.delete_memory_record(gone)) == 3
    assert copies.look_into(made) == CopyContents(event_count=1, memory_count=COUNT - 3)
    assert [copy.made_at for copy in copies.copies()] == [DAWN + DAY, DAWN]
    copies.remove(untouched)
    assert found_in(copies.folder, range(COUNT)) == list(range(3, COUNT))
    assert names(copies) == [made.name]


def test_what_hangs_on_what_is_forgotten_in_a_copy_goes_with_it(copies: SqliteCopies) -> None:
    """The names by which an entity is found, and what is stated of it."""
    made = copies.take(CopyKind.DAILY, DAWN)
    thing = entity(1, "Zanzibarium")
    copies.change(made, lambda transaction: transaction.put_graph_items([thing, fact(1, thing)]))
    assert b"zanzibarium" in made.path.read_bytes()
    copies.change(made, lambda transaction: transaction.delete_graph_items([thing.item_id]))
    assert b"zanzibarium" not in made.path.read_bytes().lower()
    with apsw.Connection(str(made.path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_work_that_fails_changes_nothing_in_a_copy(copies: SqliteCopies) -> None:
    made = copies.take(CopyKind.DAILY, DAWN)
    before = made.path.read_bytes()

    def fail(transaction: object) -> None:
        transaction.delete_memory_record([record_id(1)])  # type: ignore[attr-defined]  # it is one
        raise StorageError("no")

    with pytest.raises(StorageError, match="no"):
        copies.change(made, fail)
    assert copies.look_into(made).memory_count == COUNT
    assert made.path.read_bytes() == before


def test_a_copy_of_an_earlier_schema_can_only_be_removed(copies: SqliteCopies) -> None:
    made = copies.take(CopyKind.UPGRADE, DAWN)
    with apsw.Connection(str(made.path)) as connection:
        connection.execute("DELETE FROM _migrations WHERE version > 5")
    with pytest.raises(StorageError, match="earlier"):
        copies.change(made, lambda transaction: transaction.delete_memory_record([record_id(1)]))


def test_of_copies_made_in_one_second_the_last_made_are_kept(copies: SqliteCopies) -> None:
    made = [copies.take(CopyKind.ASKED, DAWN) for _ in range(15)]
    assert [copy.path for copy in copies.copies()] == [copy.path for copy in reversed(made[-3:])]
    assert len({copy.path for copy in made}) == 15
