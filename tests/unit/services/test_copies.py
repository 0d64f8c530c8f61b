"""A running daemon makes one copy a day; a failure is reported until a copy succeeds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import trio

from kiro_learn.config import BackupConfig, Config
from kiro_learn.errors import StorageError
from kiro_learn.model.backup import BackupCopy, CopyKind, newest_restorable, superfluous
from kiro_learn.services.copies import FIRST_AFTER_SECONDS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import CopiesInAList
from kiro_learn.testing.simulation import EPOCH
from tests.unit.services.in_daemon import in_daemon

HOUR = 3600.0
DAY = 24 * HOUR


def test_a_copy_is_made_soon_after_the_start_and_then_once_a_day() -> None:
    folder = CopiesInAList()

    async def scenario(_services: Services) -> None:
        await trio.sleep(FIRST_AFTER_SECONDS + 1)
        assert [copy.kind for copy in folder.taken] == [CopyKind.DAILY]
        await trio.sleep(23 * HOUR)
        assert len(folder.taken) == 1
        await trio.sleep(2 * HOUR)
        assert len(folder.taken) == 2
        await trio.sleep(10 * DAY)
        assert 11 <= len(folder.taken) <= 12

    in_daemon(scenario, backups=folder)


def test_a_daemon_that_is_started_again_and_again_makes_no_more_of_them() -> None:
    folder = CopiesInAList()

    async def scenario(_services: Services) -> None:
        await trio.sleep(HOUR)

    for _ in range(3):
        in_daemon(scenario, backups=folder)
    assert len(folder.taken) == 1


def test_none_is_made_where_the_settings_say_so() -> None:
    folder = CopiesInAList()

    async def scenario(services: Services) -> None:
        await trio.sleep(3 * DAY)
        assert folder.taken == []
        assert (await services.backups.status()).enabled is False

    in_daemon(scenario, backups=folder, config=Config(backup=BackupConfig(enabled=False)))


def test_a_failed_copy_is_told_and_tried_again_until_it_goes_well() -> None:
    folder = CopiesInAList(error=StorageError("there is no room"))

    async def scenario(services: Services) -> None:
        await trio.sleep(FIRST_AFTER_SECONDS + 1)
        status = await services.backups.status()
        assert (status.newest_at, status.problem) == (None, "there is no room")
        folder.error = None
        await trio.sleep(HOUR)
        status = await services.backups.status()
        assert (status.copy_count, status.problem) == (1, "")
        assert status.newest_at == folder.taken[0].made_at

    in_daemon(scenario, backups=folder)


def test_a_folder_that_is_not_the_one_of_before_is_told_before_a_copy_is_due() -> None:
    folder = CopiesInAList()

    async def scenario(services: Services) -> None:
        await trio.sleep(FIRST_AFTER_SECONDS + 1)
        folder.absent = "mount its disk"
        assert (await services.backups.status()).problem == "mount its disk"
        folder.absent = ""
        assert (await services.backups.status()).problem == ""

    in_daemon(scenario, backups=folder)


def test_a_copy_of_a_day_to_come_does_not_stand_for_todays() -> None:
    folder = CopiesInAList()
    folder.taken.append(a_copy(99))

    async def scenario(services: Services) -> None:
        await services.backups.take_if_due()
        assert len(folder.taken) == 2

    in_daemon(scenario, backups=folder)


def test_removing_a_copy_removes_that_one() -> None:
    folder = CopiesInAList()

    async def scenario(services: Services) -> None:
        first = await services.backups.take(CopyKind.ASKED)
        second = await services.backups.take(CopyKind.ASKED)
        await services.backups.remove(first)
        assert await services.backups.copies() == (second,)

    in_daemon(scenario, backups=folder)


def a_copy(day: int, kind: CopyKind = CopyKind.DAILY, size: int = 10) -> BackupCopy:
    path = Path(f"/backups/{kind.value}-{day}.db")
    return BackupCopy(path=path, kind=kind, made_at=EPOCH + timedelta(days=day), bytes=size)


@pytest.mark.parametrize(
    ("keep_count", "most_bytes", "kept"),
    [(7, 1000, [5, 4, 3, 2, 1]), (2, 1000, [5, 4]), (7, 25, [5, 4]), (7, 1, [5])],
)
def test_the_oldest_make_room(keep_count: int, most_bytes: int, kept: list[int]) -> None:
    copies = [a_copy(day) for day in range(5, 0, -1)]
    gone = superfluous(copies, keep_count=keep_count, most_bytes=most_bytes)
    assert [copy for copy in copies if copy not in gone] == [a_copy(day) for day in kept]


def test_what_nobody_may_remove_makes_no_room() -> None:
    kinds = (CopyKind.UPGRADE, CopyKind.REPLACED, CopyKind.DAMAGED, CopyKind.OTHER)
    assert superfluous([a_copy(1, kind) for kind in kinds], keep_count=1, most_bytes=1) == ()


def test_what_was_put_aside_takes_the_place_of_nothing_by_itself() -> None:
    copies = (a_copy(3, CopyKind.DAMAGED), a_copy(2, CopyKind.REPLACED), a_copy(1))
    assert newest_restorable(copies) == a_copy(1)
    assert newest_restorable(copies[:2]) is None
