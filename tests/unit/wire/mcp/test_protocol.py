"""The MCP protocol as a value without input and output, in each supported revision."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.wire.jsonrpc import Failure, Notification, Result
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.protocol import (
    Ask,
    Cancelled,
    Conversation,
    Exchange,
    Failed,
    Missing,
    reply,
    tool_error,
    undecorated,
)
from kiro_learn.wire.mcp.tools import BRIEF_CHARACTERS, TOOLS

META = {versions.PROTOCOL_VERSION: versions.MODERN, versions.CLIENT_CAPABILITIES: {}}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
TOOL_NAMES = [
    "search_memory",
    "get_memories",
    "timeline",
    "recall_context",
    "save_observation",
    "store_knowledge",
    "save_session_summary",
    "judge_memory",
    "edit_memory",
    "pin_memory",
    "forget_memory",
    "look_up_facts",
    "add_fact",
    "correct_fact",
    "forget_fact",
]


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern(method: str, **params: Any) -> dict[str, Any]:
    return request(method, **params, _meta=META)


def only(exchange: tuple[Conversation, Exchange]) -> Any:
    (output,) = exchange[1].outputs
    return output


def answer(message: dict[str, Any], version: str | None = None) -> Any:
    """The only output for a message; of a result, its value."""
    output = only(Conversation(version).receive(message))
    return output.value if isinstance(output, Result) else output


# --- versions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions.LEGACY)
def test_initialize_is_answered_in_the_revision_that_was_asked_for(version: str) -> None:
    conversation, exchange = Conversation().receive(request("initialize", **{**HELLO, "protocolVersion": version}))
    (result,) = exchange.outputs

    assert isinstance(result, Result)
    assert result.value["protocolVersion"] == version
    assert result.value["serverInfo"]["name"] == "kiro-learn"
    assert conversation == Conversation(version)


@pytest.mark.parametrize("version", ["1999-01-01", "2026-07-28", "zzz"])
def test_initialize_in_another_revision_is_answered_in_the_newest_that_has_it(version: str) -> None:
    assert answer(request("initialize", **{**HELLO, "protocolVersion": version}))["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("name", HELLO)
def test_initialize_without_what_it_needs_is_refused_and_changes_nothing(name: str) -> None:
    broken = request("initialize", **{key: value for key, value in HELLO.items() if key != name})
    conversation, exchange = Conversation().receive(broken)

    assert conversation == Conversation()
    (failure,) = exchange.outputs
    assert isinstance(failure, Failure)
    assert failure.code == -32602
    assert name in failure.message


def test_discover_tells_versions_and_capabilities() -> None:
    found = answer(modern("server/discover"))

    assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    assert found["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert found["resultType"] == "complete"
    assert found["_meta"][versions.SERVER_INFO]["name"] == "kiro-learn"
    assert found["ttlMs"] > 0
    assert found["cacheScope"] == "private"


@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", ""])
def test_a_modern_request_in_another_version_is_told_which_there_are(version: str) -> None:
    failure = answer(request("tools/list", _meta={**META, versions.PROTOCOL_VERSION: version}))

    assert (failure.code, failure.data["requested"]) == (-32022, version)
    assert failure.data["supported"] == list(versions.SUPPORTED)


@pytest.mark.parametrize(
    "meta", [{versions.PROTOCOL_VERSION: 7}, {versions.PROTOCOL_VERSION: "2026-07-28"}, {**META, "x": 1}]
)
def test_a_modern_request_needs_version_and_capabilities(meta: dict[str, Any]) -> None:
    output = answer(request("tools/list", _meta=meta))

    assert ("tools" in output) if "x" in meta else output.code == -32602


def test_a_request_of_no_revision_is_refused_and_a_ping_is_not() -> None:
    assert answer(request("tools/list")).code == -32602
    assert answer(request("server/discover")).code == -32602
    assert answer(request("ping")) == {}


def test_both_eras_may_be_spoken_in_one_conversation() -> None:
    assert "resultType" in answer(modern("tools/list"), "2025-06-18")
    assert "resultType" not in answer(request("tools/list"), "2025-06-18")


@pytest.mark.parametrize("method", ["ping", "initialize", "logging/setLevel", "completion/complete", "no/such"])
def test_what_the_modern_revision_lacks_is_not_found(method: str) -> None:
    assert answer(modern(method)).code == -32601


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "resources/subscribe", "no/such"])
def test_what_legacy_revisions_lack_is_not_found(method: str) -> None:
    assert answer(request(method), "2025-11-25").code == -32601


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions.LEGACY)
def test_tools_are_listed_in_order_with_what_the_revision_knows(version: str) -> None:
    tools = answer(request("tools/list"), version)["tools"]

    assert [tool["name"] for tool in tools] == TOOL_NAMES
    assert all(("annotations" in tool) == (version >= "2025-03-26") for tool in tools)
    assert all(("outputSchema" in tool) == ("title" in tool) == (version >= "2025-06-18") for tool in tools)


def test_annotations_tell_what_reads_and_what_destroys() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in answer(modern("tools/list"))["tools"]}

    reading = {"search_memory", "get_memories", "timeline", "recall_context", "look_up_facts"}
    assert {name for name in TOOL_NAMES if hints[name]["readOnlyHint"]} == reading
    destroying = {"edit_memory", "forget_memory", "correct_fact", "forget_fact"}
    assert {name for name in TOOL_NAMES if hints[name]["destructiveHint"]} == destroying
    assert not any(hint["openWorldHint"] for hint in hints.values())


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/templates/list"])
def test_a_list_of_one_page_knows_no_cursor(method: str) -> None:
    assert answer(request(method, cursor="x"), "2025-06-18").code == -32602
    assert "ttlMs" in answer(modern(method))


def test_prompts_and_templates_are_listed() -> None:
    assert [each["name"] for each in answer(modern("prompts/list"))["prompts"]] == ["recall", "remember"]
    templates = answer(modern("resources/templates/list"))["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["kiro-learn://memory/{id}", "kiro-learn://session/{id}"]


# --- what needs services ----------------------------------------------------------------------------------------------


def test_a_tool_is_asked_for_with_its_defaults() -> None:
    ask = answer(modern("tools/call", name="search_memory", arguments={"query": "zebra"}))

    assert ask == Ask(
        1,
        "tools/call",
        {"name": "search_memory", "arguments": {"query": "zebra", "limit": 5, "detail": "brief"}},
        versions.MODERN,
    )


def test_wrong_arguments_are_a_result_that_names_each_of_them() -> None:
    arguments = {"limit": 51, "querry": "x", "detail": 3}
    result = answer(request("tools/call", name="search_memory", arguments=arguments), "2025-11-25")
    (content,) = result["content"]

    assert result["isError"]
    assert all(name in content["text"] for name in ("$.query", "$.limit", "$.querry", "$.detail", "hint: "))


@pytest.mark.parametrize("params", [{"name": "no_such"}, {}, {"name": 7}, {"name": "timeline", "arguments": []}])
def test_a_call_of_no_tool_is_an_error(params: dict[str, Any]) -> None:
    assert answer(request("tools/call", **params), "2025-06-18").code == -32602


@pytest.mark.parametrize("params", [{"name": "no_such"}, {"name": "recall", "arguments": {"question": 1}}, {}])
def test_a_prompt_that_is_none_is_an_error(params: dict[str, Any]) -> None:
    assert answer(modern("prompts/get", **params)).code == -32602


def test_remember_needs_no_services_and_recall_does() -> None:
    remembered = answer(modern("prompts/get", name="remember", arguments={"what": "tabs, not spaces"}))
    asked = answer(modern("prompts/get", name="recall"))

    assert "tabs, not spaces" in remembered["messages"][0]["content"]["text"]
    assert isinstance(asked, Ask)
    assert asked.params == {"name": "recall", "arguments": {"question": ""}}


@pytest.mark.parametrize(
    "uri", ["file:///x", "kiro-learn://other/1", "kiro-learn://memory/", "kiro-learn://memory/a/b"]
)
def test_a_foreign_resource_is_not_found(uri: str) -> None:
    assert answer(modern("resources/read", uri=uri)).code == -32602
    legacy = answer(request("resources/read", uri=uri), "2025-11-25")
    assert (legacy.code, legacy.data) == (-32002, {"uri": uri})


def test_what_services_answer_is_written_in_the_revision_of_the_request() -> None:
    value = {"content": [], "structuredContent": {"a": 1}}

    def written(version: str) -> Any:
        message = reply(Ask(1, "tools/call", {}, version), value)
        assert isinstance(message, Result)
        return message.value

    assert written("2025-03-26") == {"content": []}
    assert written("2025-06-18") == value
    assert written(versions.MODERN)["resultType"] == "complete"
    assert undecorated(written(versions.MODERN)) == value


def test_what_failed_is_an_error() -> None:
    ask = Ask(1, "resources/read", {}, "2025-11-25")

    assert reply(ask, Failed("no disk")) == Failure(1, -32603, "no disk")
    assert reply(ask, Missing("u")) == Failure(1, -32002, "Resource not found", {"uri": "u"})
    assert tool_error("no")["isError"]


# --- notifications, batches, subscriptions ----------------------------------------------------------------------------


def test_notifications_and_responses_are_not_answered() -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "no/such", "params": []},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}},
    ):
        assert Conversation().receive(message) == (Conversation(), Exchange())


def test_a_cancellation_names_its_request() -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}

    assert only(Conversation().receive(message)) == Cancelled("a")


@pytest.mark.parametrize("version", versions.LEGACY)
def test_batches_are_taken_by_the_revisions_that_have_them(version: str) -> None:
    batch = [request("ping", 1), {"jsonrpc": "2.0", "method": "x"}, 7, request("ping", 2)]
    _, exchange = Conversation(version).receive(batch)

    if version in versions.WITH_BATCHES:
        assert exchange.is_batch
        kinds = [type(output) for output in exchange.outputs]
        assert kinds == [Result, Failure, Result]
    else:
        (failure,) = exchange.outputs
        assert isinstance(failure, Failure)
        assert failure.code == -32600


@pytest.mark.parametrize("version", [None, "2025-03-26"])
def test_an_empty_batch_is_an_invalid_request(version: str | None) -> None:
    failure = only(Conversation(version).receive([]))

    assert (failure.id, failure.code) == (None, -32600)


def test_a_subscription_is_acknowledged_and_ends() -> None:
    _, exchange = Conversation().receive(modern("subscriptions/listen", notifications={"toolsListChanged": True}))
    acknowledged, ended = exchange.outputs

    assert isinstance(acknowledged, Notification)
    assert acknowledged.params["notifications"] == {}
    assert isinstance(ended, Result)
    assert ended.value["_meta"][versions.SUBSCRIPTION_ID] == 1
    assert answer(modern("subscriptions/listen")).code == -32602


# --- what is no message -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number", "code"),
    [
        (None, None, -32600),
        (7, None, -32600),
        ("x", None, -32600),
        ({}, None, -32600),
        ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, 3, -32600),
        ({"id": 3, "method": "ping"}, 3, -32600),
        ({"jsonrpc": "2.0", "id": 3}, 3, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": 4}, 3, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": 4}, 3, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": None}, 3, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": []}, 3, -32602),
    ],
)
def test_what_is_no_message_gets_the_error_that_json_rpc_names(value: Any, number: Any, code: int) -> None:
    failure = only(Conversation("2025-06-18").receive(value))

    assert (failure.id, failure.code) == (number, code)


def test_answers_are_small_by_default() -> None:
    assert BRIEF_CHARACTERS <= 300
    limits = {tool.name: tool.takes["properties"].get("limit", {}).get("default") for tool in TOOLS}
    assert limits["search_memory"] == 5
