"""Taking in many events in one request."""

from __future__ import annotations

import json
from typing import Any

import trio

from kiro_learn.config import ServerConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import JsonBody
from kiro_learn.model.ids import EventId, derived_event_id
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, Reply, with_client

BATCH = "/v1/events/batch"


def wire(number: int, **options: Any) -> dict[str, Any]:
    return write_event(an_event(number, **options))


async def send(client: Client, *lines: dict[str, Any] | bytes, query: str = "") -> Reply:
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return await client.post(BATCH + query, b"\n".join(texts), kind="application/x-ndjson")


def answers(reply: Reply) -> list[dict[str, Any]]:
    assert (reply.status, reply.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in reply.text.splitlines()]


async def kept(client: Client) -> list[EventId]:
    page = await client.storage.list_events(namespace=None, limit=200, cursor=None)
    return sorted(event.event_id for event in page.items)


@with_client
async def test_each_line_is_answered_and_a_bad_one_harms_no_other(client: Client) -> None:
    reply = await send(client, wire(1), wire(2) | {"kind": "x"}, b"", b"{", b'"\xff"', wire(3))
    first, wrong, broken, not_utf8, last = answers(reply)
    assert first == {"line": 1, "event_id": an_event(1).event_id, "stored": True}
    assert (wrong["line"], wrong["error"], wrong["details"][0]["path"]) == (2, "validation failed", "$.kind")
    assert (broken["line"], broken["details"][0]["path"]) == (4, "$")
    assert not_utf8["line"] == 5
    assert last == {"line": 6, "event_id": an_event(3).event_id, "stored": True}
    assert await kept(client) == [an_event(1).event_id, an_event(3).event_id]


@with_client
async def test_a_batch_is_one_commit(client: Client) -> None:
    before = client.storage.commit_count
    answers(await send(client, *(wire(number) for number in range(200))))
    assert client.storage.commit_count == before + 1
    assert len(await kept(client)) == 200


@with_client
async def test_a_repeat_changes_nothing_within_a_batch_and_across_requests(client: Client) -> None:
    await client.post("/v1/events", wire(1, text="before"))
    reply = await send(client, wire(1, text="changed"), wire(2, text="first"), wire(2, text="second"))
    assert [answer["stored"] for answer in answers(reply)] == [False, True, False]
    assert [answer["stored"] for answer in answers(await send(client, wire(2), wire(1)))] == [False, False]
    texts = [event.body for event in (await client.storage.list_events(namespace=None, limit=9, cursor=None)).items]
    assert texts == [an_event(2, text="first").body, an_event(1, text="before").body]


@with_client
async def test_a_truncated_last_line_is_named(client: Client) -> None:
    whole = json.dumps(wire(2)).encode()
    first, cut = answers(await send(client, wire(1), whole[: len(whole) // 2]))
    assert first["stored"] is True
    assert (cut["line"], cut["error"]) == (2, "validation failed")


@with_client
async def test_lines_may_end_as_on_windows_and_nothing_is_no_mistake(client: Client) -> None:
    reply = await send(client, json.dumps(wire(1)).encode() + b"\r", b"\r", b"  ")
    assert [answer["line"] for answer in answers(reply)] == [1]
    assert (await send(client, b"\n\n")).text == ""


@with_client
async def test_a_line_may_be_as_large_as_a_request(client: Client) -> None:
    most = ServerConfig().max_body_bytes
    line = json.dumps(wire(1)).encode()
    reply = await send(client, line + b" " * (most - len(line)), wire(2), line + b" " * (most - len(line) + 1))
    first, _, too_long = answers(reply)
    assert first["stored"] is True
    assert too_long["details"] == [{"path": "$", "problem": f"expected at most {most} bytes a line"}]


@with_client
async def test_a_batch_is_redacted_and_learned_like_single_events(client: Client) -> None:
    secret = "hunter" + "2hunter2"
    await send(client, wire(1, body=JsonBody({"password": secret})), wire(2))
    await client.post("/v1/events", wire(3, body=JsonBody({"password": secret})))
    first, second = [(await client.storage.get_event_by_id(an_event(n).event_id)) for n in (1, 3)]
    assert first is not None
    assert second is not None
    assert first.body == second.body != JsonBody({"password": secret})
    assert (await client.storage.get_buffer_size(NAMESPACE)).event_count == 3
    status = (await client.get("/v1/status")).json
    assert status["waiting"]["event_count"] == 3


@with_client
async def test_a_store_that_fails_refuses_the_whole_batch_and_it_can_be_sent_again(client: Client) -> None:
    client.storage.fail_next_write(StorageBusy("the database is locked"))
    reply = await send(client, wire(1), wire(2))
    assert (reply.status, reply.json["error"]) == (503, "the database is locked")
    assert [answer["stored"] for answer in answers(await send(client, wire(1), wire(2)))] == [True, True]


@with_client
async def test_too_many_lines_store_nothing(client: Client) -> None:
    reply = await send(client, *(wire(number) for number in range(1_001)))
    assert (reply.status, reply.json["error"]) == (413, "too many events")
    assert await kept(client) == []


@with_client
async def test_a_batch_is_stored_although_its_sender_went_away(client: Client) -> None:
    client.storage.write_gate = trio.Event()
    with trio.move_on_after(1):
        await client.services.capture.take_lines([json.dumps(wire(1)).encode()], most_bytes=9_999)
    client.storage.write_gate.set()
    await trio.sleep(1)
    assert (await client.post("/v1/events", wire(1))).json["stored"] is False
    assert await kept(client) == [an_event(1).event_id]


def reported(number: int, **fields: Any) -> dict[str, Any]:
    """An event with an id such as hooks give; all have the same time."""
    return wire(number) | {"event_id": f"01J{number:023d}", "valid_time": wire(1)["valid_time"]} | fields


def text(content: str) -> dict[str, Any]:
    return {"body": {"type": "text", "content": content}}


@with_client
async def test_what_hooks_reported_under_another_id_is_a_repeat_if_that_is_asked(client: Client) -> None:
    await send(client, reported(1, **text("fix the basket")))
    near = reported(2, **text("fix the basket"))
    later = reported(3, **text("fix the basket"), valid_time="2031-01-01T00:00:00Z")
    other = reported(4, **text("fix the cart"))
    reply = await send(client, near, later, other, query="?unless_reported=true")
    assert [answer["stored"] for answer in answers(reply)] == [False, True, True]
    assert [answer["stored"] for answer in answers(await send(client, near))] == [True]


@with_client
async def test_a_tool_use_is_the_same_step_if_its_tool_and_input_are(client: Client) -> None:
    def use(number: int, command: str, output: str) -> dict[str, Any]:
        data = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": output}
        return reported(number, kind="tool_use", body={"type": "json", "data": data})

    await send(client, use(1, "ls", "a b"))
    reply = await send(client, use(2, "ls", "a  b"), use(3, "ls -l", "a b"), query="?unless_reported=true")
    assert [answer["stored"] for answer in answers(reply)] == [False, True]


@with_client
async def test_ids_made_of_the_step_itself_are_not_looked_at(client: Client) -> None:
    await send(client, reported(1, **text("go on"), event_id=derived_event_id("s", "prompt", "a")))
    again = reported(2, **text("go on"), event_id=derived_event_id("s", "prompt", "b"))
    reply = await send(client, again, query="?unless_reported=true")
    assert [answer["stored"] for answer in answers(reply)] == [True]
