"""Relearning over HTTP: refused without a model, and strict about times."""

from __future__ import annotations

import pytest

from kiro_learn.testing.daemon import an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, with_client
from tests.unit.services.relearning_rig import PROJECT

ROUTE = f"/v1/projects/{PROJECT}/relearn"


@with_client
async def test_without_a_model_relearning_is_refused(client: Client) -> None:
    await client.post("/v1/events", write_event(an_event(1)))
    for reply in (await client.get(ROUTE), await client.post(ROUTE)):
        assert reply.status == 409
        assert reply.json["error"].startswith("no model is set up")
        assert reply.json["hint"]


@pytest.mark.parametrize(
    "since", ["2026-01-05", "2026-01-05T12:00", "2026-01-05T12:00Z", "2026-01-05T12:00:00.5+02:00", None]
)
def test_a_date_or_a_time_is_understood(since: str | None) -> None:
    @with_client
    async def ask(client: Client) -> None:
        await client.post("/v1/events", write_event(an_event(1)))
        assert (await client.post(ROUTE, {"since": since})).status == 409, "it is the model that is missing"

    ask()


@pytest.mark.parametrize("accept_few", [None, 1, "yes", []])
def test_what_accepts_is_true_or_false(accept_few: object) -> None:
    @with_client
    async def ask(client: Client) -> None:
        reply = await client.post(ROUTE, {"accept_few": accept_few})
        assert reply.status == 400
        assert [each["path"] for each in reply.json["details"]] == ["$.accept_few"]

    ask()


@pytest.mark.parametrize("since", ["", "monday", "2026-13-01", 5, [], {}, True, "0001-01-01T00:00+14:00"])
def test_whatever_else_is_refused_by_name(since: object) -> None:
    @with_client
    async def ask(client: Client) -> None:
        reply = await client.post(ROUTE, {"since": since})
        assert reply.status == 400
        assert [each["path"] for each in reply.json["details"]] == ["$.since"]

    ask()
