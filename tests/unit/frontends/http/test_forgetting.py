"""Forgetting, pausing, renaming and merging over HTTP, with strict checks of requests."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.model.namespace import namespace_of
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from kiro_learn.wire.messages import write_event, write_record
from tests.unit.frontends.http.asking import Client, with_client

OTHER = namespace_of("ada", "b" * 64)


async def one_turn(client: Client) -> None:
    await client.post("/v1/events", write_event(an_event(1)))
    await client.post("/v1/memories", write_record(a_record(1)))


@with_client
async def test_what_is_shown_is_what_goes(client: Client) -> None:
    await one_turn(client)
    body = {"project": NAMESPACE, "session": "s"}
    foreseen = await client.post("/api/forgetting/preview", body)
    assert (foreseen.json["events"], foreseen.json["memories"]) == (1, 1)
    assert [each["title"] for each in foreseen.json["shown"]] == ["record 1"]
    assert "record 1" in (await client.get("/v1/memories")).text
    done = (await client.post("/api/forgetting", body)).json
    assert done == {
        "events": 1, "sessions": 1, "memories": 1, "graph_items": 0, "is_overwritten": True, "copies": [],
        "damaged_copies": 0,
    }  # fmt: skip
    assert "record 1" not in (await client.get("/v1/memories")).text
    assert (await client.get("/v1/events")).json["total"] == 0


@with_client
async def test_the_graph_of_a_whole_project_is_counted_as_it_goes(client: Client) -> None:
    await one_turn(client)
    for said in ({"fact": {"predicate": "uses", "object": "Redis"}}, {"preference": {"value": "Always squash"}}):
        assert (await client.post("/api/graph", {"project": NAMESPACE, **said})).status == 200
    body = {"project": NAMESPACE, "whole": True}
    foreseen = (await client.post("/api/forgetting/preview", body)).json["graph_items"]
    assert foreseen == (await client.post("/api/forgetting", body)).json["graph_items"]
    assert foreseen >= 2
    assert (await client.post("/api/forgetting/preview", body)).json["graph_items"] == 0


@with_client
async def test_a_memory_that_is_not_there_is_none_of_ours(client: Client) -> None:
    body = {"project": NAMESPACE, "memories": [a_record(9).record_id]}
    assert (await client.post("/api/forgetting", body)).status == 404
    await one_turn(client)
    await client.post("/v1/events", write_event(an_event(2, namespace=OTHER)))
    for project in (OTHER, namespace_of("ada", "c" * 64)):
        asked = {"project": project, "memories": [a_record(1).record_id], "with_events": True}
        assert [(await client.post(f"/api/forgetting{each}", asked)).status for each in ("", "/preview")] == [404, 404]
    assert "record 1" in (await client.get("/v1/memories")).text
    assert (await client.post("/api/forgetting", {"memories": [a_record(1).record_id]})).json["memories"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"project": NAMESPACE},
        {"whole": True},
        {"project": NAMESPACE, "whole": True, "session": "s"},
        {"project": NAMESPACE, "memories": ["x"], "session": "s"},
        {"query": "words"},
        {"secret": "short"},
        {"since": "yesterday"},
        {"since": "9999-12-31T23:59:59-14:00"},
        {"until": "0001-01-01T00:00:00+14:00"},
        {"session": ""},
        {"session": "s", "unknown": 1},
    ],
)
def test_what_is_unclear_is_refused(body: dict[str, Any]) -> None:
    @with_client
    async def ask(client: Client) -> None:
        await one_turn(client)
        for route in ("/api/forgetting", "/api/forgetting/preview"):
            reply = await client.post(route, body)
            assert reply.status == 400, reply.text
        assert (await client.get("/v1/events")).json["total"] == 1

    ask()


@with_client
async def test_a_pause_is_listed_until_it_ends(client: Client) -> None:
    await one_turn(client)
    made = (await client.post("/api/pauses", {"project": NAMESPACE, "session": "s"})).json
    assert (await client.get("/api/pauses")).json == {"pauses": [made]}
    ending = f"/api/pauses?project={NAMESPACE}&session=s"
    assert [(await client.ask("DELETE", ending)).json["resumed"] for _ in range(2)] == [True, False]
    assert (await client.get("/api/pauses")).json == {"pauses": []}


@with_client
async def test_a_project_is_renamed_then_merged(client: Client) -> None:
    await one_turn(client)
    await client.post("/v1/events", write_event(an_event(2, namespace=OTHER)))
    assert (await client.post("/api/project", {"project": NAMESPACE, "name": "till"})).json["project"] == "till"
    assert (await client.post("/api/project", {"project": OTHER, "name": "till"})).status == 400
    merged = await client.post("/api/project/merge", {"source": "till", "into": OTHER})
    assert merged.json["namespace"] == OTHER
    assert (await client.get(f"/v1/events?namespace={OTHER}")).json["total"] == 2
    assert (await client.post("/api/project/merge", {"source": NAMESPACE, "into": OTHER})).status == 400
