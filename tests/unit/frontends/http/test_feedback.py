"""Feedback on a memory is counted, shown in the status, and refused for an unknown memory."""

from __future__ import annotations

from tests.unit.frontends.http.asking import Client, a_record, with_client

PATH = f"/v1/memories/{a_record(1)['record_id']}/feedback"


@with_client
async def test_what_is_said_is_counted_and_shown(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    assert (await client.get(PATH)).json["factor"] == 1
    helped = await client.post(PATH, {"feedback": "helped"})
    assert (helped.status, helped.json["helped"], helped.json["factor"]) == (200, 1, 1.075)
    wrong = (await client.post(PATH, {"feedback": "wrong"})).json
    assert (wrong["helped"], wrong["wrong"], wrong["factor"]) == (1, 1, 1)
    assert (await client.get(PATH)).json == wrong
    shown = (await client.get("/v1/status")).json["feedback"]
    assert (shown["helped"], shown["wrong"]) == (1, 1)


@with_client
async def test_what_is_not_there_or_is_no_feedback_is_refused(client: Client) -> None:
    assert (await client.post(PATH, {"feedback": "helped"})).status == 404
    assert (await client.get(PATH)).status == 404
    await client.post("/v1/memories", a_record(1))
    assert (await client.post(PATH, {"feedback": "used"})).status == 400
