"""A retrieval in the log says why memories were told, as long as it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_record, with_client

PROMPT = "what did the lesson teach about zebras?"


async def asked(client: Client, *, number: int = 50, session: str = "s", text: str = PROMPT) -> dict[str, Any]:
    """The answer to a prompt of an agent, and its retrieval in the log."""
    event = write_event(an_event(number, text=text, session=session))
    told = (await client.post("/v1/events?retrieve=true", event)).json["retrieval"]
    (newest,) = (await client.get("/v1/retrievals?limit=1")).json["items"]
    return {"told": told, "item": newest, "path": f"/v1/retrievals/{newest['retrieval_id']}"}


async def remember(client: Client, *numbers: int) -> None:
    for number in numbers:
        await client.post("/v1/memories", a_record(number))
    await client.post("/v1/embeddings/backfill")


@with_client
async def test_a_retrieval_tells_its_prompt_its_memories_and_its_text(client: Client) -> None:
    await remember(client, 1, 2)
    seen = await asked(client)
    found = (await client.get(seen["path"])).json
    assert (found["prompt"], found["agent"], found["event_id"]) == (PROMPT, "kiro-cli", an_event(50).event_id)
    assert (found["outcome"], found["context"], found["is_as_told"]) == ("told", seen["told"]["context"], True)
    told = [each for each in found["found"] if each["why"] == "told"]
    assert sorted(each["record_id"] for each in told) == sorted(seen["told"]["records"])
    assert {each["memory"]["title"] for each in told} == {"Lesson 1", "Lesson 2"}
    assert all(each["score"] != round(each["score"], 4) for each in told)
    assert found["confidence"] >= found["needed"] > 0


@with_client
async def test_a_block_whose_memory_is_forgotten_is_not_what_was_told(client: Client) -> None:
    await remember(client, 1, 2)
    seen = await asked(client)
    await client.ask("DELETE", f"/v1/memories/{a_record(1)['record_id']}")
    found = (await client.get(seen["path"])).json
    assert not found["is_as_told"]
    assert "Lesson 2" in found["context"]
    assert "Lesson 1" not in found["context"]
    assert [each["memory"] is None for each in found["found"]].count(True) == 1


@with_client
async def test_a_prompt_of_which_no_event_is_stored_is_not_told(client: Client) -> None:
    await remember(client, 1)
    await client.post("/api/recall", {"project": NAMESPACE, "prompt": PROMPT})
    (item,) = (await client.get("/v1/retrievals")).json["items"]
    found = (await client.get(f"/v1/retrievals/{item['retrieval_id']}")).json
    assert (found["prompt"], found["agent"], found["session_id"]) == (None, None, None)


@with_client
async def test_what_was_told_before_and_what_is_far_behind_say_so(client: Client) -> None:
    await remember(client, 1)
    await client.post("/v1/memories", a_record(3, title="Gardening", summary="tomatoes", facts=[], concepts=[]))
    await asked(client)
    again = await asked(client, number=51, text="what did we decide last week about lesson and zebras?")
    found = (await client.get(again["path"])).json
    whys = {each["record_id"]: each["why"] for each in found["found"]}
    assert whys == {a_record(1)["record_id"]: "told_before", a_record(3)["record_id"]: "cut"}
    assert found["silent_because"] == "all of it was told before"


@with_client
async def test_silence_says_how_close_the_closest_was(client: Client) -> None:
    await client.post("/v1/memories", a_record(3, title="Gardening", summary="tomatoes", facts=[], concepts=[]))
    await client.post("/v1/embeddings/backfill")
    seen = await asked(client)
    found = (await client.get(seen["path"])).json
    assert (found["outcome"], found["context"]) == ("silent", "")
    assert found["confidence"] < found["needed"]
    assert [each["why"] for each in found["found"]] == ["floor"]


@with_client
async def test_what_somebody_says_of_a_retrieval_is_said_of_what_it_told(client: Client) -> None:
    await remember(client, 1, 2)
    seen = await asked(client)
    found = (await client.post(f"{seen['path']}/feedback", {"feedback": "wrong"})).json
    told = [each for each in found["found"] if each["why"] == "told"]
    assert [(each["became"], each["feedback"]["wrong"]) for each in told] == [("wrong", 1), ("wrong", 1)]
    assert (await client.post(f"{seen['path']}/feedback", {"feedback": "used"})).status == 400


@with_client
async def test_the_list_has_the_prompts_that_are_stored_if_they_are_asked_for(client: Client) -> None:
    await asked(client, text="z" * 300)
    await client.post("/api/recall", {"project": NAMESPACE, "prompt": PROMPT})
    listed = (await client.get("/v1/retrievals?prompts=true")).json["items"]
    assert [each["prompt"] for each in listed] == [None, "z" * 200]
    assert "prompt" not in (await client.get("/v1/retrievals")).json["items"][0]


@with_client
async def test_an_unknown_retrieval_is_refused(client: Client) -> None:
    assert (await client.get("/v1/retrievals/01JB2M9P7S8QXKD3W5T6V4ZH0N")).status == 404
    reply = await client.post("/v1/retrievals/01JB2M9P7S8QXKD3W5T6V4ZH0N/feedback", {"feedback": "wrong"})
    assert reply.status == 404


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("outcome=told", 1),
        ("outcome=silent", 2),
        ("outcome=partial", 0),
        ("agent=kiro-cli", 2),
        ("agent=codex", 0),
        ("since=2100-01-01", 0),
        ("since=2020-01-01&limit=1", 3),
    ],
)
def test_the_list_is_filtered_and_its_times_are_of_what_it_shows(query: str, count: int) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        await remember(client, 1)
        await asked(client)
        await asked(client, number=51, text="hello")
        await client.post("/api/recall", {"project": NAMESPACE, "prompt": "thanks"})
        listed = (await client.get(f"/v1/retrievals?{query}")).json
        assert (listed["total"], listed["latency_ms"]["budget"]) == (count, 500)
        assert (listed["latency_ms"]["p99"] is None) == (count == 0)

    scenario()
