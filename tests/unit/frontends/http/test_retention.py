"""Letting go by age over HTTP, by the settings or by days in the request, which are checked strictly."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, with_client

ROUTE = "/api/retention"
TWO_DAYS = 2 * 24 * 3600.0
NOTHING = {"count": 0, "bytes": 0}


async def learn_one(client: Client) -> None:
    await client.post("/v1/events", write_event(an_event(1)))
    await trio.sleep(TWO_DAYS)


@with_client
async def test_by_default_nothing_goes(client: Client) -> None:
    await learn_one(client)
    for reply in (await client.get(ROUTE), await client.post(ROUTE), await client.post(ROUTE, {})):
        assert reply.status == 200
        assert reply.json["rules"] == {"event_days": 0, "distill_days": 0, "replaced_days": 0}
        assert (reply.json["events"], reply.json["memories"], reply.json["replaced"]) == (NOTHING, NOTHING, NOTHING)


@with_client
async def test_a_preview_names_what_goes_then(client: Client) -> None:
    await learn_one(client)
    preview = await client.get(f"{ROUTE}?event_days=1")
    assert preview.json["events"]["count"] == 1
    assert "event 1" in (await client.get(f"/v1/events?namespace={NAMESPACE}")).text
    assert (await client.post(ROUTE, {"event_days": 1})).json["events"] == preview.json["events"]
    after = (await client.get(f"/v1/events?namespace={NAMESPACE}")).text
    assert "event 1" not in after
    assert "[EXPIRED]" in after
    assert (await client.post(ROUTE, {"event_days": 1})).json["events"] == NOTHING


@pytest.mark.parametrize("days", ["-1", "1.5", "many", "36501", "9" * 30, "%D9%A3", "%201"])
def test_days_in_a_query_are_a_whole_number(days: str) -> None:
    @with_client
    async def ask(client: Client) -> None:
        reply = await client.get(f"{ROUTE}?distill_days={days}")
        assert reply.status == 400
        assert reply.json["error"] == "invalid distill_days"

    ask()


@pytest.mark.parametrize("days", [-1, 1.5, "1", True, [], 36_501, 10**30])
def test_days_in_a_body_are_a_whole_number(days: object) -> None:
    @with_client
    async def ask(client: Client) -> None:
        reply = await client.post(ROUTE, {"replaced_days": days})
        assert reply.status == 400
        assert [each["path"] for each in reply.json["details"]] == ["$.replaced_days"]

    ask()


@with_client
async def test_a_rule_of_another_name_is_refused_and_nothing_goes(client: Client) -> None:
    await learn_one(client)
    assert (await client.post(ROUTE, {"event_day": 0})).status == 400
    assert "event 1" in (await client.get(f"/v1/events?namespace={NAMESPACE}")).text
