"""Memories that cite changed files are noted, by times and by contents, on demand and regularly."""

from __future__ import annotations

from datetime import timedelta

import pytest
import trio

from kiro_learn.model.observation import Observation
from kiro_learn.services import staleness
from kiro_learn.services.placing import Wanted
from kiro_learn.services.services import Services
from kiro_learn.services.staleness import FILES_SECONDS
from kiro_learn.testing.daemon import FixedFiles
from kiro_learn.testing.simulation import EPOCH
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/shop"
BEFORE, AFTER = EPOCH - timedelta(days=1), EPOCH + timedelta(days=1)


def files_with(digest: str | None = None) -> FixedFiles:
    """One file, last changed before all memories."""
    return FixedFiles({FOLDER: {"pool.py": BEFORE}}, digests={"pool.py": digest} if digest else {})


async def observe(services: Services) -> None:
    await services.observe.observe(Observation(project=FOLDER, title="The pool", files_modified=("pool.py",)))


async def is_stale(services: Services) -> bool:
    found = await services.project_search.by_name(FOLDER, "pool", Wanted(limit=1))
    return found.found.memories[0].record.stale_at is not None


async def detected(services: Services) -> bool:
    await services.staleness.detect(FOLDER)
    return await is_stale(services)


def test_another_content_is_stale_though_its_time_is_old_and_the_same_content_clears_it() -> None:
    files = files_with("a" * 64)

    async def scenario(services: Services) -> None:
        await observe(services)
        assert not await detected(services)
        files.digests["pool.py"] = "b" * 64
        assert await detected(services)
        files.digests["pool.py"] = "a" * 64
        assert not await detected(services)

    in_daemon(scenario, project_files=files)


def test_many_files_that_take_long_to_read_are_looked_at_to_the_end() -> None:
    names = [f"{number}.py" for number in range(90)]
    files = FixedFiles({FOLDER: dict.fromkeys(names, AFTER)}, reading_seconds=FILES_SECONDS / 60)

    async def scenario(services: Services) -> None:
        for start in range(0, len(names), 30):
            cited = tuple(names[start : start + 30])
            await services.observe.observe(Observation(project=FOLDER, title=f"{start}", files_read=cited))
        assert (await services.staleness.detect(FOLDER)).marked == 3

    in_daemon(scenario, project_files=files)


def test_a_file_that_was_only_touched_is_not_stale_once_its_content_is_known() -> None:
    files = files_with("a" * 64)

    async def scenario(services: Services) -> None:
        await observe(services)
        assert not await detected(services)
        files.folders[FOLDER]["pool.py"] = AFTER
        assert not await detected(services)
        files.digests["pool.py"] = "b" * 64
        assert await detected(services)
        del files.folders[FOLDER]["pool.py"]
        assert await detected(services)

    in_daemon(scenario, project_files=files)


def test_without_a_known_content_the_time_decides() -> None:
    files = files_with()

    async def scenario(services: Services) -> None:
        await observe(services)
        assert not await detected(services)
        files.folders[FOLDER]["pool.py"] = AFTER
        assert await detected(services)
        files.digests["pool.py"] = "a" * 64  # first read too late to know the content at the time of the record
        assert await detected(services)
        files.folders[FOLDER]["pool.py"] = BEFORE
        assert not await detected(services)

    in_daemon(scenario, project_files=files)


def test_a_folder_that_is_gone_changes_no_note() -> None:
    files = files_with()

    async def scenario(services: Services) -> None:
        await observe(services)
        files.folders[FOLDER]["pool.py"] = AFTER
        assert await detected(services)
        gone = files.folders.pop(FOLDER)
        assert await detected(services)
        files.folders[FOLDER] = gone | {"pool.py": BEFORE}
        assert not await detected(services)

    in_daemon(scenario, project_files=files)


def test_maintenance_sets_and_clears_without_a_question() -> None:
    files = files_with()

    async def scenario(services: Services) -> None:
        await observe(services)
        files.folders[FOLDER]["pool.py"] = AFTER
        await trio.sleep(staleness.FIRST_AFTER_SECONDS + 1)
        assert await is_stale(services)
        files.folders[FOLDER]["pool.py"] = BEFORE
        await trio.sleep(staleness.INTERVAL_SECONDS + 1)
        assert not await is_stale(services)

    in_daemon(scenario, project_files=files)


def test_a_file_system_that_does_not_answer_holds_up_neither_a_request_nor_maintenance_nor_the_end() -> None:
    files = FixedFiles(gate=trio.Event())

    async def scenario(services: Services) -> None:
        await observe(services)
        began = trio.current_time()
        with pytest.raises(trio.TooSlowError):
            await services.staleness.detect(FOLDER)
        assert trio.current_time() - began <= FILES_SECONDS
        await trio.sleep(staleness.FIRST_AFTER_SECONDS + 1)
        await observe(services)

    in_daemon(scenario, project_files=files)


def test_a_file_that_was_only_touched_is_not_listed_as_stale_either() -> None:
    files = files_with("a" * 64)

    async def scenario(services: Services) -> None:
        await observe(services)
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        assert not await detected(services)
        files.folders[FOLDER]["pool.py"] = AFTER
        assert (await services.staleness.freshness.stale(namespace)).items == ()
        files.digests["pool.py"] = "b" * 64
        (listed,) = (await services.staleness.freshness.stale(namespace)).items
        assert (listed.changes.changed, await detected(services)) == (("pool.py",), True)

    in_daemon(scenario, project_files=files)


def test_what_could_not_be_looked_at_is_counted() -> None:
    async def scenario(services: Services) -> None:
        for title, files in (("The pool", ("pool.py",)), ("No files", ())):
            await services.observe.observe(Observation(project="by name", title=title, files_modified=files))
        found = await services.staleness.detect("by name")
        assert (found.folder, found.stale, found.unchecked) == (None, 0, 1)
        await observe(services)
        assert (await services.staleness.detect(FOLDER)).unchecked == 1, "its folder is not there"

    in_daemon(scenario, project_files=FixedFiles())
