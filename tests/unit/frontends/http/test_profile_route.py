"""A project's profile over HTTP."""

from __future__ import annotations

from kiro_learn.model.event import EventKind, JsonBody
from kiro_learn.model.namespace import Namespace
from kiro_learn.testing.daemon import an_event
from tests.unit.frontends.http.asking import Client, with_client
from tests.unit.learning.profile.repositories import GIN_API

FOLDER = "/home/ada/gateway"
ROUTE = f"/api/profile?project={FOLDER}"


@with_client
async def test_the_profile_of_a_project_names_its_sources_and_what_ran(client: Client) -> None:
    client.files.texts[FOLDER] = GIN_API.files
    namespace = Namespace((await client.get(f"/api/project?project={FOLDER}")).json["namespace"])
    tool = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_response": {"exit_code": 0}}
    event = an_event(1, kind=EventKind.TOOL_USE, body=JsonBody(tool), namespace=namespace)
    await client.services.capture.take(event)
    answer = await client.get(ROUTE)
    facts = {(each["slot"], each["value"]): each for each in answer.json["facts"]}
    assert answer.headers["x-project"] == "gateway"
    assert answer.json["folder"] == FOLDER
    assert facts["language", "Go 1.22.3"]["source"] == "go.mod:3"
    assert facts["language", "Go 1.22.3"]["runs"] is None
    assert facts["test", "make test"]["source"] == "Makefile:7"
    runs = facts["test", "make test"]["runs"]
    assert (runs["succeeded"], runs["failed"], runs["last_event"]) == (1, 0, event.event_id)


@with_client
async def test_a_project_without_manifests_has_no_facts(client: Client) -> None:
    assert (await client.get(ROUTE)).json == {"project": "gateway", "folder": FOLDER, "facts": []}
