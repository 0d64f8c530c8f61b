"""A project stays the same under every name, and keeps its name and folder."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from kiro_learn.errors import InvalidRequest, UnknownProject
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, Namespace, namespace_of
from kiro_learn.model.observation import Observation
from kiro_learn.services.placing import Wanted
from kiro_learn.services.project_names import FRESH_SECONDS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/me/shop"


async def observe(services: Services, title: str, project: str, **values: Any) -> None:
    await services.observe.observe(Observation(project=project, title=title, text="zebra", **values))


@pytest.mark.parametrize("is_by_id", [False, True], ids=["by name", "by namespace"])
def test_a_project_keeps_its_name_and_folder_however_much_is_handed_in_without_the_folder(is_by_id: bool) -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "first", FOLDER)
        known = await services.project_names.resolve(FOLDER)
        for number in range(EVENTS_WITH_FOLDER + 1):
            await observe(services, f"number {number}", known.namespace if is_by_id else "shop")
        await trio.sleep(FRESH_SECONDS)
        assert (await services.project_names.resolve("shop")).namespace == known.namespace
        assert (await services.staleness.detect("shop")).folder == FOLDER

    in_daemon(scenario)


def test_a_namespace_is_answered_by_the_name_of_its_project() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "first", FOLDER)
        await observe(services, "second", "my-api")
        for project, name in (
            ((await services.project_names.resolve(FOLDER)).namespace, "shop"),
            (namespace_of("ada", "my-api"), "my-api"),
            (namespace_of("ada", "unknown"), "unknown"),
        ):
            found = await services.project_search.by_name(project, "zebra", Wanted(limit=9))
            assert set(found.names.values()) == {name}
            assert (await services.project_names.resolve(project)).name == name

    in_daemon(scenario)


def test_a_folder_is_named_from_that_of_the_user_too() -> None:
    """As settings name it, which no shell has read."""

    async def scenario(services: Services) -> None:
        home = (await services.project_names.resolve("~")).folder
        await observe(services, "first", f"{home}/src/shop")
        known = await services.project_names.resolve(f"{home}/src/shop")
        assert await services.project_names.resolve("~/src/shop") == known

    in_daemon(scenario)


def test_another_users_project_is_searched_with_none_of_this_users() -> None:
    others = Namespace("/actor/someone-else/project/shop/")

    async def scenario(services: Services) -> None:
        await observe(services, "mine", "my-api")
        theirs = a_record(1, "theirs", "zebra", namespace=others)
        await services.remember.put(theirs)
        await trio.sleep(FRESH_SECONDS)
        found = await services.project_search.by_name(others, "zebra", Wanted(limit=9), across_projects=True)
        assert [each.record.record_id for each in found.found.memories] == [theirs.record_id]
        found = await services.project_search.by_name("my-api", "zebra", Wanted(limit=9), across_projects=True)
        assert [each.record.title for each in found.found.memories] == ["mine"]

    in_daemon(scenario)


def test_a_project_of_another_user_that_ones_own_was_merged_into_is_ones_own_too() -> None:
    """Two people who work on one project do this, and then both are told what either's agents learn."""
    ours = Namespace("/actor/someone-else/project/shop/")

    async def scenario(services: Services) -> None:
        await observe(services, "mine", FOLDER)
        theirs = a_record(1, "theirs", "zebra", namespace=ours)
        await services.remember.put(theirs)
        await services.project_merges.merge(FOLDER, ours)
        assert (await services.project_names.resolve(FOLDER)).namespace == ours
        assert [each.namespace for each in await services.project_names.projects()] == [ours]
        await observe(services, "said later", FOLDER)
        await trio.sleep(FRESH_SECONDS)
        found = await services.project_search.by_name("shop", "zebra", Wanted(limit=9), across_projects=True)
        assert {each.record.title for each in found.found.memories} == {"mine", "theirs", "said later"}

    in_daemon(scenario)


def test_a_name_that_no_project_has_is_answered_with_the_nearest() -> None:
    async def scenario(services: Services) -> None:
        resolve = services.project_names.resolve
        with pytest.raises(UnknownProject) as caught:
            await resolve("web-shop")
        assert caught.value.hint == "", "nothing is known yet"
        for project in ("web-shop", "/home/me/src/Web-Shop-Api", "zoo"):
            await observe(services, "first", project)
        with pytest.raises(UnknownProject, match="no project is called web-shopp") as caught:
            await resolve("web-shopp")
        assert caught.value.hint == "Perhaps web-shop or Web-Shop-Api is meant."
        with pytest.raises(UnknownProject) as caught:
            await resolve("xxxxxx")
        assert caught.value.hint == "Known projects: Web-Shop-Api, web-shop, zoo."
        assert (await resolve("xxxxxx", may_be_new=True)).is_new

    in_daemon(scenario)


def test_a_folder_that_is_not_there_and_not_known_is_answered_with_the_nearest() -> None:
    """The folder is mistyped, and nobody would find what is stored for it."""

    async def scenario(services: Services) -> None:
        for folder in (FOLDER, "/home/me/old/shop", "/home/me/zoo"):
            await observe(services, "first", folder)
        with pytest.raises(
            UnknownProject, match="there is no folder /gone/me/shopp, and no project of that folder"
        ) as caught:
            await observe(services, "mistyped", "/gone/me/shopp")
        assert caught.value.hint == "Perhaps /home/me/old/shop or /home/me/shop is meant."
        with pytest.raises(UnknownProject) as caught:
            await services.project_names.resolve("/gone/xxxxxxx", may_be_new=True)
        assert caught.value.hint == "Known projects: /home/me/old/shop, /home/me/shop, /home/me/zoo."
        assert len(await services.project_names.projects()) == 3

    in_daemon(scenario)


def test_a_project_whose_folder_was_removed_is_still_known() -> None:
    async def scenario(services: Services) -> None:
        gone = await services.project_finder.project_of("/gone/shop")
        await services.remember.put(a_record(1, "first", "zebra", namespace=gone.namespace))
        assert (await services.project_names.resolve("/gone/shop")).namespace == gone.namespace

    in_daemon(scenario)


@pytest.mark.parametrize("name", [" ", "\u3000", ".", "..", " . "])
def test_what_names_nothing_makes_no_project(name: str) -> None:
    async def scenario(services: Services) -> None:
        with pytest.raises(InvalidRequest):
            await services.project_names.resolve(name, may_be_new=True)

    in_daemon(scenario)


def test_a_name_and_a_folder_of_that_name_are_told_from_each_other_by_what_each_is_reached_with() -> None:
    async def scenario(services: Services) -> None:
        names = services.project_names
        await observe(services, "by name", "shop")
        await observe(services, "in the folder", FOLDER)
        await trio.sleep(FRESH_SECONDS)
        by_name, by_folder = await names.described("shop"), await names.described(FOLDER)
        assert by_name.namespace != by_folder.namespace
        assert (by_name.namesakes, by_folder.namesakes) == ((FOLDER,), (by_name.namespace,))
        for told in (by_name, by_folder):
            (other,) = told.namesakes
            assert {(await names.resolve(other)).namespace, told.namespace} == {by_name.namespace, by_folder.namespace}

    in_daemon(scenario)


def test_a_name_of_several_folders_is_answered_with_what_names_each() -> None:
    async def scenario(services: Services) -> None:
        names = services.project_names
        for folder in (FOLDER, "/home/me/old/shop"):
            await observe(services, "first", folder)
        with pytest.raises(InvalidRequest, match="several projects are called shop") as caught:
            await names.resolve("shop")
        ways = caught.value.hint.removeprefix("Name one: ").split(", ")
        assert [(await names.resolve(way)).folder for way in ways] == ["/home/me/old/shop", FOLDER]

    in_daemon(scenario)


def test_a_name_longer_than_a_shown_id_names_its_project_and_so_does_the_beginning_of_an_id() -> None:
    async def scenario(services: Services) -> None:
        names = services.project_names
        await observe(services, "first", "a-project-with-a-long-name")
        await observe(services, "first", FOLDER)
        await trio.sleep(FRESH_SECONDS)
        known = await names.resolve(FOLDER)
        (by_name,) = [each for each in await names.projects() if each.namespace != known.namespace]
        assert (await names.resolve(by_name.display_name)).namespace == by_name.namespace
        beginning = known.namespace.rpartition("/project/")[2][:12]
        assert (await names.resolve(beginning)).namespace == known.namespace

    in_daemon(scenario)


def test_a_project_does_not_get_its_id_back_as_its_name_while_another_one_is_called_so() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "by name", "shop")
        by_name = (await services.project_names.resolve("shop")).namespace
        await services.project_merges.rename("shop", "old-shop")
        await observe(services, "in the folder", FOLDER)
        with pytest.raises(InvalidRequest, match="that no other project has"):
            await services.project_merges.rename(by_name, "shop")
        await services.project_merges.rename(FOLDER, "new-shop")
        assert (await services.project_merges.rename(by_name, "shop")).namespace == by_name

    in_daemon(scenario)
