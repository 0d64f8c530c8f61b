"""A project is the same one whatever it is called, and keeps its name and folder."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.observation import Observation
from kiro_learn.services.freshness import EVENTS_WITH_FOLDER
from kiro_learn.services.project_names import FRESH_SECONDS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/me/shop"


async def observe(services: Services, title: str, project: str, **values: Any) -> None:
    await services.api.observe.observe(Observation(project=project, title=title, text="zebra", **values))


@pytest.mark.parametrize("is_by_id", [False, True], ids=["by name", "by namespace"])
def test_a_project_keeps_its_name_and_folder_however_much_is_handed_in_without_the_folder(is_by_id: bool) -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "first", FOLDER)
        known = await services.api.project_names.resolve(FOLDER)
        for number in range(EVENTS_WITH_FOLDER + 1):
            await observe(services, f"number {number}", known.namespace if is_by_id else "shop")
        await trio.sleep(FRESH_SECONDS)
        assert (await services.api.project_names.resolve("shop")).namespace == known.namespace
        assert (await services.api.staleness.detect("shop")).folder == FOLDER

    in_daemon(scenario)


def test_a_namespace_is_answered_by_the_name_of_its_project() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "first", FOLDER)
        await observe(services, "second", "my-api")
        for project, name in (
            ((await services.api.project_names.resolve(FOLDER)).namespace, "shop"),
            (namespace_of("ada", "my-api"), "my-api"),
            (namespace_of("ada", "unknown"), "unknown"),
        ):
            found = await services.api.scored_search.hybrid(project, "zebra", limit=9)
            assert {each.project for each in found.results} <= {name}
            assert (await services.api.project_names.resolve(project)).name == name

    in_daemon(scenario)


def test_another_users_project_is_searched_with_none_of_this_users() -> None:
    others = Namespace("/actor/someone-else/project/shop/")

    async def scenario(services: Services) -> None:
        await observe(services, "mine", "my-api")
        theirs = a_record(1, "theirs", "zebra", namespace=others)
        await services.remember.put(theirs)
        await trio.sleep(FRESH_SECONDS)
        found = await services.api.scored_search.hybrid(others, "zebra", limit=9, across_projects=True)
        assert [each.record.record_id for each in found.results] == [theirs.record_id]
        found = await services.api.scored_search.hybrid("my-api", "zebra", limit=9, across_projects=True)
        assert [each.record.title for each in found.results] == ["mine"]

    in_daemon(scenario)
