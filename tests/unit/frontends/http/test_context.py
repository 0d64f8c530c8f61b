"""The route of the context block: an error in a request is named by its place."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.testing.daemon import NAMESPACE
from tests.unit.frontends.http.asking import Client, with_client

ROLES = ("user", "assistant")
GOOD: dict[str, Any] = {"project": NAMESPACE, "message": "where does it run?"}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"message": 5}, "message"),
    ({"project": ""}, "project"),
    ({"history": "said"}, "history"),
    ({"history": [{"content": "x" * 1_000_001}]}, "history"),
    ({"history": [{"text": "x"}]}, "history"),
    ({"history": [{"content": "x"}] * 1_001}, "history"),
    ({"budgets": {"total": -1}}, "total"),
    ({"budgets": {"memory": "many"}}, "memory"),
    ({"profile": "bold"}, "profile"),
    ({"told": [""]}, "told"),
]


@with_client
async def test_a_context_is_answered_with_all_its_parts(client: Client) -> None:
    reply = await client.post("/v1/context", GOOD | {"history": [{"content": "hello there", "role": "assistant"}]})
    assert reply.status == 200
    assert reply.json["context"] == ""
    assert reply.json["trigger"] == "message"
    assert reply.json["query"]["intent"] == "ask_fact"


@with_client
async def test_a_long_conversation_is_made_shorter(client: Client) -> None:
    said = [{"role": role, "content": f"{role} {number} " + "word " * 50} for number in range(9) for role in ROLES]
    reply = await client.post("/v1/context/compact", {"messages": said, "tokens": 1_000})
    assert reply.json["summarized"] == 10
    assert reply.json["messages"][0]["content"].startswith("[Conversation summary:")
    assert reply.json["messages"][1:] == said[10:]
    same = await client.post("/v1/context/compact", {"messages": said})
    assert (same.json["summarized"], same.json["messages"]) == (0, said)
    assert (await client.post("/v1/context/compact", {"messages": said, "tokens": "x"})).status == 400


@pytest.mark.parametrize(("change", "named"), BAD)
def test_what_is_wrong_is_named(change: dict[str, Any], named: str) -> None:
    @with_client
    async def asked(client: Client) -> None:
        reply = await client.post("/v1/context", GOOD | change)
        assert reply.status == 400
        assert named in str(reply.json)

    asked()
