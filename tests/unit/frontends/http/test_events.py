"""Taking in events, and listing them."""

from __future__ import annotations

from typing import Any

import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import EventKind
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_record, with_client


def wire(number: int, **options: Any) -> dict[str, Any]:
    return write_event(an_event(number, **options))


@with_client
async def test_an_event_is_stored_once(client: Client) -> None:
    first = await client.post("/v1/events", wire(1))
    again = await client.post("/v1/events", wire(1))
    event_id = an_event(1).event_id
    assert (first.status, first.json) == (200, {"event_id": event_id, "stored": True})
    assert (again.status, again.json) == (200, {"event_id": event_id, "stored": False})
    read = await client.get(f"/v1/events/{event_id}")
    assert (read.status, read.json["session_id"]) == (200, an_event(1).session_id)
    assert (await client.get(f"/v1/events/{an_event(2).event_id}")).status == 404


@with_client
async def test_a_prompt_that_asks_is_told_what_is_remembered(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    reply = await client.post("/v1/events?retrieve=true", wire(2, text="what did the lesson teach about zebras?"))
    retrieval = reply.json["retrieval"]
    assert retrieval["records"] == [a_record(1)["record_id"]]
    assert retrieval["context"].startswith("## Prior observations from kiro-learn")
    assert retrieval["degraded"] == []
    assert retrieval["latency_ms"] >= 0


@with_client
async def test_a_repeated_prompt_is_told_again(client: Client) -> None:
    await client.post("/v1/events?retrieve=true", wire(2))
    reply = await client.post("/v1/events?retrieve=true", wire(2))
    assert not reply.json["stored"]
    assert "retrieval" in reply.json


@with_client
async def test_what_does_not_ask_is_told_nothing_and_neither_is_an_answer(client: Client) -> None:
    assert "retrieval" not in (await client.post("/v1/events", wire(1))).json
    assert "retrieval" not in (await client.post("/v1/events?retrieve=0", wire(2))).json
    answer = wire(3, kind=EventKind.SESSION_SUMMARY)
    assert "retrieval" not in (await client.post("/v1/events?retrieve=true", answer)).json


@with_client
async def test_the_note_that_starts_a_session_is_told_what_the_session_should_know_once(client: Client) -> None:
    await client.post("/v1/memories", a_record(1, facts=[]))
    first = (await client.post("/v1/events?retrieve=true", wire(2, kind=EventKind.NOTE))).json
    assert (first["stored"], first["retrieval"]["records"]) == (True, [a_record(1)["record_id"]])
    assert first["retrieval"]["context"].startswith("## Prior observations from kiro-learn")
    again = (await client.post("/v1/events?retrieve=true", wire(3, kind=EventKind.NOTE))).json["retrieval"]
    assert (again["context"], again["records"]) == ("", [])
    prompt = wire(4, text="what did the lesson teach about zebras?")
    assert (await client.post("/v1/events?retrieve=true", prompt)).json["retrieval"]["records"] == []


@with_client
async def test_memories_do_not_wait_for_the_disk_but_the_answer_does(client: Client) -> None:
    """The latency is only that of the search, even if the disk is slow."""
    client.storage.write_gate = trio.Event()
    replies = []

    async def ask() -> None:
        replies.append(await client.post("/v1/events?retrieve=true", wire(1)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.sleep(0.4)
        assert not replies
        client.storage.write_gate.set()
    assert replies[0].json["stored"] is True
    assert replies[0].json["retrieval"]["latency_ms"] == 0


@with_client
async def test_a_prompt_that_is_not_durable_by_its_deadline_is_pending(client: Client) -> None:
    client.storage.write_gate = trio.Event()
    with trio.fail_after(0.501):
        reply = await client.post("/v1/events?retrieve=true", wire(1))
    assert (reply.status, reply.json["stored"]) == (200, "pending")
    assert "context" in reply.json["retrieval"]
    client.storage.write_gate.set()
    await trio.sleep(1)
    assert (await client.post("/v1/events", wire(1))).json["stored"] is False


@with_client
async def test_a_hook_is_told_that_its_prompt_is_pending(client: Client) -> None:
    payload = {"hook_event_name": "userPromptSubmit", "session_id": "s", "cwd": "/w", "prompt": "why?"}
    stored = await client.post("/v1/hooks/kiro-cli?retrieve=true", payload)
    assert "x-hook-stored" not in stored.headers
    client.storage.write_gate = trio.Event()
    with trio.fail_after(0.501):
        reply = await client.post("/v1/hooks/kiro-cli?retrieve=true", payload)
    assert (reply.status, reply.headers["x-hook-stored"]) == (200, "pending")
    client.storage.write_gate.set()


@with_client
async def test_a_prompt_that_cannot_be_kept_is_answered_as_pending_and_says_why(client: Client) -> None:
    client.storage.fail_next_write(StorageBusy("the database is locked"))
    reply = await client.post("/v1/events?retrieve=true", wire(1))
    assert (reply.status, reply.json["stored"]) == (200, "pending")
    assert reply.json["retrieval"]["degraded"] == ["event: the database is locked"]


@with_client
async def test_without_a_question_an_event_that_cannot_be_kept_is_refused(client: Client) -> None:
    client.storage.fail_next_write(StorageBusy("the database is locked"))
    reply = await client.post("/v1/events", wire(1))
    assert (reply.status, reply.json) == (503, {"error": "the database is locked"})
    assert reply.headers["retry-after"] == "1"


@with_client
async def test_every_wrong_value_is_named(client: Client) -> None:
    reply = await client.post("/v1/events", wire(1) | {"event_id": "x", "kind": "y"})
    assert reply.status == 400
    assert reply.json["error"] == "validation failed"
    assert {detail["path"] for detail in reply.json["details"]} == {"$.event_id", "$.kind"}


@with_client
async def test_what_is_no_json_is_refused(client: Client) -> None:
    reply = await client.post("/v1/events", b"{")
    assert (reply.status, reply.json["error"]) == (400, "invalid JSON")


@with_client
async def test_events_are_listed_newest_first_page_by_page(client: Client) -> None:
    for number in range(5):
        await client.post("/v1/events", wire(number))
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = (await client.get(f"/v1/events?namespace={NAMESPACE}&limit=2{cursor}")).json
        assert page["total"] == 5
        seen += [event["event_id"] for event in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [an_event(number).event_id for number in (4, 3, 2, 1, 0)]
    assert page["next_cursor"] is None


@with_client
async def test_a_cursor_of_somebody_else_is_refused(client: Client) -> None:
    assert (await client.get("/v1/events?cursor=nonsense")).status == 400
