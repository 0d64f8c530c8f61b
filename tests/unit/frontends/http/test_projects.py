"""Every answer names its project, and an unknown name is refused with the nearest known one."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.model.namespace import namespace_of
from kiro_learn.services.project_names import FRESH_SECONDS
from tests.unit.frontends.http.asking import Client, with_client

FOLDER = "/home/ada/web shop"
ASKED = [
    "search?q=zebra",
    "semantic-search?q=zebra",
    "hybrid-search?q=zebra",
    "observations?limit=1",
    "knowledge?limit=1",
    "sessions?limit=1",
    "context?tokens=100",
    "analytics?days=1",
    "report?period=week",
    "graph?kind=facts",
]


async def observe(client: Client, project: str) -> None:
    assert (await client.post("/api/observations", {"project": project, "title": "zebra"})).status == 200


@pytest.mark.parametrize("path", ASKED)
def test_an_answer_names_its_project_and_an_unknown_one_is_refused(path: str) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        await observe(client, FOLDER)
        reply = await client.get(f"/api/{path}&project=web%20shop")
        assert (reply.status, reply.headers["x-project"]) == (200, "web shop")
        assert reply.headers["x-project-namespace"].startswith("/actor/ada/project/")
        refused = await client.get(f"/api/{path}&project=web-shop")
        assert (refused.status, refused.json["error"]) == (404, "no project is called web-shop")
        assert refused.json["hint"] == "Perhaps web shop is meant."

    scenario()


@with_client
async def test_what_is_handed_in_says_where_it_went(client: Client) -> None:
    reply = await client.post("/api/observations", {"project": "caf\xe9", "title": "zebra"})
    assert (reply.status, reply.headers["x-project"]) == (200, "caf%C3%A9")
    assert (await client.post("/api/recall", {"project": "cafe", "prompt": "zebra"})).status == 404


@with_client
async def test_a_name_and_a_folder_of_that_name_are_shown_beside_each_other(client: Client) -> None:
    await observe(client, "shop")
    await observe(client, "/home/ada/shop")
    await trio.sleep(FRESH_SECONDS)
    by_name = await client.get("/api/search?q=zebra&project=shop")
    assert by_name.headers["x-project-namesakes"] == "/home/ada/shop"
    shown = (await client.get("/api/project?project=/home/ada/shop")).json
    assert (shown["project"], shown["folder"]) == ("shop", "/home/ada/shop")
    assert shown["namesakes"] == [namespace_of("ada", "shop")]
    assert (await client.get(f"/api/project?project={shown['namesakes'][0]}")).json["folder"] is None
