"""Whatever a client of the Model Context Protocol sends, each request is answered once, and the server goes on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.frontends.mcp.asking_services import AskedServices, ClientPlace
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record
from kiro_learn.wire.jsonrpc import Failure, Result, decode_value, is_id
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.protocol import Ask, Conversation, reply
from kiro_learn.wire.mcp.tools import TOOLS
from tests.unit.services.in_daemon import in_daemon

CODES = {-32700, -32600, -32601, -32602, -32002, -32022}
META = {versions.PROTOCOL_VERSION: versions.MODERN, versions.CLIENT_CAPABILITIES: {}}
METHODS = [
    "initialize",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "notifications/cancelled",
]
WORDS = ["", "2.0", "search_memory", "recall", "kiro-learn://memory/x", "2025-06-18", "\ud800", "é", *METHODS]
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.sampled_from(WORDS))
KEYS = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "name", "arguments", "uri", "_meta", "cursor", "requestId", "x"]
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
NEARLY = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0"]), "method": st.sampled_from(METHODS) | LEAVES},
    optional={"id": LEAVES, "params": st.dictionaries(KEYS, VALUES, max_size=4) | VALUES},
)
MODERN = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(),
        "method": st.sampled_from(METHODS),
        "params": st.dictionaries(KEYS, VALUES, max_size=4).map(lambda params: {**params, "_meta": META}),
    }
)
VERSIONS = st.sampled_from([None, *versions.LEGACY])


@given(value=st.one_of(NEARLY, MODERN, VALUES), version=VERSIONS)
def test_a_message_is_answered_once_or_not_at_all(value: Any, version: str | None) -> None:
    """The answer has the message's id if that can be read. A wrong message gets an error of the specification."""
    _, exchange = Conversation(version).receive(value)
    answers = [output for output in exchange.outputs if isinstance(output, Result | Failure | Ask)]

    assert all(answer.code in CODES for answer in answers if isinstance(answer, Failure))
    if not isinstance(value, dict):
        assert isinstance(value, list) or [answer.id for answer in answers] == [None]
        return
    number = value.get("id")
    is_request = value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str) and is_id(number)
    if is_request:
        assert [answer.id for answer in answers] == [number]
    else:
        assert all(isinstance(answer, Failure) for answer in answers)
        assert all(answer.id == (number if is_id(number) else None) for answer in answers)


@given(
    batch=st.lists(st.one_of(NEARLY, VALUES), max_size=4),
    version=st.sampled_from([*versions.WITH_BATCHES, "2025-11-25"]),
)
def test_each_request_of_a_batch_is_answered_once(batch: list[Any], version: str) -> None:
    _, exchange = Conversation(version).receive(batch)

    if exchange.is_batch:
        numbers = [
            each["id"] for each in batch if isinstance(each, dict) and "method" in each and is_id(each.get("id"))
        ]
        answered = [each.id for each in exchange.outputs if isinstance(each, Result | Failure | Ask)]
        assert all(answered.count(number) >= numbers.count(number) for number in numbers)
    else:
        (refused,) = exchange.outputs
        assert isinstance(refused, Failure)


@given(text=st.one_of(st.binary(max_size=40), VALUES.map(lambda value: json.dumps(value).encode()[:-1])))
def test_bytes_are_a_value_or_no_json(text: bytes) -> None:
    try:
        decode_value(text)
    except ValueError:
        return


ARGUMENT = st.one_of(
    st.sampled_from(["zebra", "mr_" + "0" * 25 + "1", "NEAR(", '"', "constraint", "", "/home", "a" * 300]),
    st.integers(-1, 60),
    st.booleans(),
    st.lists(st.sampled_from(["zebra", "mr_" + "0" * 25 + "1", "\x00"]), max_size=3),
    st.text(max_size=5),
)
CALLS = st.sampled_from(TOOLS).flatmap(
    lambda tool: st.tuples(
        st.just(tool.name), st.dictionaries(st.sampled_from(sorted(tool.takes["properties"])), ARGUMENT)
    )
)


@given(calls=st.lists(CALLS, max_size=6))
def test_every_call_of_a_tool_has_a_result(calls: list[tuple[str, dict[str, Any]]]) -> None:
    """The result has the names that the output schema requires, or says what was wrong."""
    required = {tool.name: tool.gives.get("required", []) for tool in TOOLS}

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "zebra"))
        asked = AskedServices(services, ClientPlace(project=NAMESPACE, session=None))
        for name, arguments in calls:
            params = {"name": name, "arguments": arguments, "_meta": META}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            (output,) = Conversation().receive(message)[1].outputs
            answer = reply(output, await asked.answer(output)) if isinstance(output, Ask) else output
            assert isinstance(answer, Result)
            result = answer.value
            assert result["content"][0]["text"]
            assert result.get("isError") or set(required[name]) <= result["structuredContent"].keys()

    in_daemon(scenario)
