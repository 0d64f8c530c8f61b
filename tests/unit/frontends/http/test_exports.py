"""The routes of exports and imports of all that is kept."""

from __future__ import annotations

import json

import structlog.testing
import trio

from tests.unit.frontends.http.asking import Client, a_record, with_client

LINES = "application/x-ndjson"


async def export(client: Client, query: str = "") -> list[str]:
    reply = await client.get(f"/v1/export{query}")
    assert (reply.status, reply.headers["content-type"]) == (200, LINES)
    assert reply.text.endswith("\n")
    return reply.text.splitlines()


@with_client
async def test_lines_come_with_a_head_and_an_end(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    head, project, memory, end = await export(client)
    assert json.loads(head)["kiro_learn_export"]["format"] == 1
    assert json.loads(project)["project"]["namespace"] == a_record(1)["namespace"]
    assert json.loads(memory)["memory"]["record"]["title"] == "Lesson 1"
    assert json.loads(end) == {"end": {"counts": {"project": 1, "memory": 1}, "damaged": 0}}
    assert [json.loads(line).popitem()[0] for line in await export(client, "?kind=memory")][1:-1] == ["memory"]


@with_client
async def test_a_row_that_cannot_be_read_is_left_out_and_counted(client: Client) -> None:
    for number in (1, 2):
        await client.post("/v1/memories", a_record(number))
    client.storage.damage_row(a_record(1)["record_id"])
    *_, end = await export(client, "?kind=memory")
    assert json.loads(end) == {"end": {"counts": {"memory": 1}, "damaged": 1}}


@with_client
async def test_a_project_of_no_name_is_left_out_and_counted(client: Client) -> None:
    """As lines of told memories brought them before they were checked."""
    await client.post("/v1/memories", a_record(1))
    client.storage.connection.execute("INSERT INTO namespaces (number, namespace) VALUES (77, '')")
    *_, end = await export(client)
    assert json.loads(end) == {"end": {"counts": {"project": 1, "memory": 1}, "damaged": 1}}


@with_client
async def test_an_export_that_fails_halfway_has_no_end_and_the_log_says_where(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    client.storage.connection.execute("DROP TABLE pauses")
    with structlog.testing.capture_logs() as logged, trio.move_on_after(1) as waiting:
        await export(client)
    assert waiting.cancelled_caught, "its end is waited for until the server breaks the connection"
    assert [(each["event"], each["what"]) for each in logged if each["log_level"] == "warning"] == [
        ("work.failed", "stream")
    ]


@with_client
async def test_lines_are_taken_each_once(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    lines = "\n".join(await export(client)).replace(a_record(1)["record_id"], a_record(2)["record_id"])
    for outcome in ("stored", "known"):
        reply = await client.post("/v1/export/import", (lines + '\n{"x"').encode(), kind=LINES)
        assert reply.status == 200
        assert reply.json["counts"]["memory"] == {outcome: 1}
        assert [each["line"] for each in reply.json["errors"]] == [5]


@with_client
async def test_a_later_format_is_refused(client: Client) -> None:
    reply = await client.post("/v1/export/import", b'{"kiro_learn_export":{"format":7}}', kind=LINES)
    assert reply.status == 400
    assert "format 1" in reply.json["details"][0]["problem"]
