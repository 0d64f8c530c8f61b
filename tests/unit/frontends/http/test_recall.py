"""What a prompt would be told, and for each found memory its score, its rankings, and whether it is told."""

from __future__ import annotations

import pytest

from tests.unit.frontends.http.asking import Client, with_client

PROMPT = "How do we validate the JWT of a request?"


async def observe(client: Client, title: str, text: str) -> str:
    seen = {"project": "my-api", "title": title, "text": text, "session": "s-1"}
    return str((await client.post("/api/observations", seen)).json["id"])


@with_client
async def test_a_recall_says_how_each_memory_was_found(client: Client) -> None:
    told = await observe(client, "JWT validation", "Requests validate their JWT in a middleware.")
    await observe(client, "Garden", "Tomatoes want sun.")
    answer = (await client.post("/api/recall", {"project": "my-api", "prompt": PROMPT})).json
    assert (answer["project"], answer["records"][0], answer["degraded"]) == ("my-api", told, [])
    assert answer["records"] == [each["id"] for each in answer["found"] if each["told"]]
    assert answer["context"].startswith("## Prior observations")
    first = answer["found"][0]
    assert first == {
        "id": told,
        "title": "JWT validation",
        "type": "manual",
        "score": first["score"],
        "found_by": first["found_by"],
        "told": True,
        "feedback": {"helped": 0, "wrong": 0, "used": 0, "ignored": 0, "objected": 0, "factor": 1.0},
    }
    assert first["score"] > 0
    assert "words" in first["found_by"]


@with_client
async def test_a_project_without_memories_recalls_nothing(client: Client) -> None:
    answer = (await client.post("/api/recall", {"project": "/home/ada/new", "prompt": PROMPT})).json
    assert answer == {"project": "new", "context": "", "records": [], "found": [], "degraded": []}


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ([], ["$"]),
        ({}, ["$.project", "$.prompt"]),
        ({"project": "", "prompt": 1}, ["$.project", "$.prompt"]),
        ({"project": "p", "prompt": "\ud800"}, ["$.prompt"]),
    ],
)
def test_a_recall_of_nothing_is_refused(body: object, paths: list[str]) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        reply = await client.post("/api/recall", body)
        assert (reply.status, [each["path"] for each in reply.json["details"]]) == (400, paths)

    scenario()
