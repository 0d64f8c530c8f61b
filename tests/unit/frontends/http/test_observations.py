"""Observations, knowledge and checkpoints over HTTP, as the search guide hands them in."""

from __future__ import annotations

import pytest

from tests.unit.frontends.http.asking import OURS, Client, with_client

OBSERVATION = {
    "project": "my-api",
    "type": "file-write",
    "title": "Modified auth.ts",
    "text": "+ verify(token)",
    "narrative": "Added JWT validation middleware",
    "concepts": ["security"],
    "files_read": ["src/token.ts"],
    "files_modified": ["src/auth.ts"],
    "session": "s-1",
}


@with_client
async def test_an_observation_is_stored_and_a_repeat_names_the_first(client: Client) -> None:
    first = await client.post("/api/observations", OBSERVATION)
    assert (first.status, first.json["stored"]) == (200, True)
    again = await client.post("/api/observations", OBSERVATION)
    assert (again.status, again.json) == (200, {"duplicate_of": first.json["id"], "differs": []})
    record = (await client.get(f"/v1/memories/{first.json['id']}")).json
    assert (record["capture_type"], record["text"]) == ("file-write", "+ verify(token)")


@with_client
async def test_a_repeat_says_what_of_it_is_not_kept(client: Client) -> None:
    first = await client.post("/api/observations", OBSERVATION | {"text": "3 failed"})
    again = await client.post("/api/observations", OBSERVATION | {"text": "all 40 passed", "session": "s-2"})
    assert again.json == {"duplicate_of": first.json["id"], "differs": ["text", "session"]}


@with_client
async def test_where_two_sessions_stand_is_kept_of_each(client: Client) -> None:
    stands = {"project": "my-api", "session": "s-1", "task": "Move the parser", "progress": "half"}
    for other in ({}, {"next_steps": "the tests"}, {"next_steps": "the docs"}, {"session": "s-2"}):
        assert (await client.post("/api/checkpoints", stands | other)).json["stored"]
    again = await client.post("/api/checkpoints", stands)
    assert again.json["differs"] == []


@with_client
async def test_content_is_another_word_for_text(client: Client) -> None:
    done = await client.post("/api/observations", {"project": "p", "title": "t", "content": "zebra"})
    assert (await client.get(f"/v1/memories/{done.json['id']}")).json["text"] == "zebra"


@with_client
async def test_knowledge_is_stored_with_its_metadata(client: Client) -> None:
    item = {
        "project": "my-api",
        "knowledge_type": "decision",
        "title": "SQLite",
        "content": "One file",
        "alternatives": ["Postgres"],
        "reason": "no server",
    }
    done = await client.post("/api/knowledge", item)
    record = (await client.get(f"/v1/memories/{done.json['id']}")).json
    assert record["details"] == {"alternatives": ["Postgres"], "reason": "no server"}
    wrong = await client.post("/api/knowledge", item | {"confidence": "high"})
    assert (wrong.status, [each["path"] for each in wrong.json["details"]]) == (400, ["$.confidence"])


@with_client
async def test_a_checkpoint_is_stored(client: Client) -> None:
    done = await client.post("/api/checkpoints", {"project": "my-api", "session": "s-1", "task": "Move the parser"})
    assert done.json["stored"] is True


@with_client
async def test_wrong_values_are_all_named(client: Client) -> None:
    reply = await client.post("/api/observations", {"project": "", "title": 7, "concepts": ["", "x"]})
    assert reply.status == 400
    assert {each["path"] for each in reply.json["details"]} == {"$.project", "$.title", "$.concepts[0]"}


@pytest.mark.parametrize("blank", [" ", "\t\n", "\u200b", "\u2060 \u00a0"])
def test_what_nobody_can_see_is_refused_by_name(blank: str) -> None:
    """Its vector is that of an empty text, which is as near to nonsense as any memory."""

    @with_client
    async def ask(client: Client) -> None:
        project = {"project": "my-api", "session": "s-1"}
        for path, names, body in (
            ("/api/observations", {"title"}, {"title": blank}),
            ("/api/knowledge", {"title", "content"}, {"knowledge_type": "decision", "title": blank, "content": blank}),
            ("/api/checkpoints", {"task"}, {"task": blank}),
        ):
            reply = await client.post(path, project | body)
            assert (reply.status, {each["path"] for each in reply.json["details"]}) == (400, {f"$.{n}" for n in names})

    ask()


@with_client
async def test_a_project_may_be_named_by_its_folder_or_namespace_too(client: Client) -> None:
    for project in ("/home/ada/shop", "/actor/ada/project/abc/", "plain name"):
        assert (await client.post("/api/observations", OBSERVATION | {"project": project})).json["stored"]
    wrong = await client.post("/api/observations", OBSERVATION | {"project": "a/b"})
    assert wrong.status == 400


@with_client
async def test_the_guard_is_that_of_every_route(client: Client) -> None:
    bare = {"Host": OURS["Host"], "Content-Type": "application/json"}
    foreign = {**OURS, "Host": "evil.example", "Content-Type": "application/json"}
    for path in ("/api/observations", "/api/knowledge", "/api/checkpoints"):
        assert (await client.post(path, OBSERVATION, only=bare)).status == 401
        assert (await client.post(path, OBSERVATION, only=foreign)).status == 403
