"""The Model Context Protocol over HTTP: every tool in both eras, and wrong messages."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kiro_learn.testing.daemon import USER_HOME
from kiro_learn.testing.simulation import EPOCH
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.tools import TOOLS
from tests.unit.frontends.http.asking import Client, Reply, with_client

SECRET = "gh" + "p_" + "a1B2c3D4" * 5
PLACE = "/mcp?project=/home/ada/zoo&session=s"
META = {versions.PROTOCOL_VERSION: versions.MODERN, versions.CLIENT_CAPABILITIES: {}}
ERAS = [versions.MODERN, *versions.LEGACY]
NO_RECORD = "mr_" + "0" * 26


def message(method: str, params: dict[str, Any], *, era: str) -> dict[str, Any]:
    meta = {"_meta": META} if era == versions.MODERN else {}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, **meta}}


def headers_of(method: str, params: dict[str, Any], era: str) -> dict[str, str]:
    named = params.get("name", params.get("uri"))
    headers = {"MCP-Protocol-Version": era, "Accept": "application/json, text/event-stream"}
    if era != versions.MODERN:
        return headers
    return {**headers, "Mcp-Method": method} | ({"Mcp-Name": named} if named else {})


async def send(client: Client, method: str, era: str = versions.MODERN, path: str = PLACE, **params: Any) -> Reply:
    return await client.post(path, message(method, params, era=era), headers=headers_of(method, params, era))


async def result(client: Client, method: str, era: str = versions.MODERN, **params: Any) -> Any:
    reply = await send(client, method, era, **params)
    assert reply.status == 200, reply.text
    answer = reply.json
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer["result"]


async def called(client: Client, tool: str, era: str = versions.MODERN, **arguments: Any) -> dict[str, Any]:
    """A tool's answer, from its text, which every revision has."""
    answer = await result(client, "tools/call", era, name=tool, arguments=arguments)
    assert not answer.get("isError"), answer
    value: dict[str, Any] = json.loads(answer["content"][0]["text"])
    return value


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await result(client, "tools/call", name=tool, arguments=arguments)
    assert answer["isError"]
    text: str = answer["content"][0]["text"]
    return text


# --- the tools --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_is_listed_and_called(era: str) -> None:
    jsonschema: Any = pytest.importorskip("jsonschema")

    @with_client
    async def scenario(client: Client) -> None:
        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await result(client, "tools/call", era, name=tool, arguments=arguments)
            assert not answer.get("isError"), answer
            value: dict[str, Any] = answer.get("structuredContent", {})
            if versions.knows_titles(era):
                schema = next(each.gives for each in TOOLS if each.name == tool)
                jsonschema.validate(value, schema)
            return value or json.loads(answer["content"][0]["text"])

        listed = (await result(client, "tools/list", era))["tools"]
        assert [each["name"] for each in listed] == [tool.name for tool in TOOLS]
        saved = await call("save_observation", title="Zebras are striped", narrative="Seen.", text="z" * 5000)
        assert saved["stored"]
        known = await call("store_knowledge", knowledge_type="constraint", title="No zoo visits", content="Too dear.")
        await call("save_session_summary", task="Look at zebras", next_steps="Count them")
        (found,) = (await call("search_memory", query="striped zebras", limit=1))["memories"]
        assert found["id"] == saved["id"]
        read = await call("get_memories", ids=[saved["id"], NO_RECORD])
        assert (len(read["memories"][0]["text"]), read["unknown"]) == (2000, [NO_RECORD])
        around = await call("timeline", around=known["id"], before=1, after=1)
        assert [each["title"] for each in around["memories"]][:2] == ["Zebras are striped", "No zoo visits"]
        newest = await call("timeline", limit=1)
        assert (await call("timeline", limit=5, cursor=newest["next_cursor"]))["memories"]
        edited = await call("edit_memory", id=saved["id"], title="Zebras have stripes", concepts=["zebra"])
        assert edited["replaced"] == saved["id"]
        forgotten = await call("forget_memory", id=edited["id"])
        assert (forgotten["forgotten"], forgotten["project"]) == (True, "zoo")
        assert (await call("get_memories", ids=[edited["id"], saved["id"]]))["memories"] == []

    scenario()


@with_client
async def test_recall_gives_the_block_that_a_hook_would_tell(client: Client) -> None:
    saved = await called(client, "save_observation", title="Zebras are striped", narrative="Black and white stripes.")
    for arguments in ({"prompt": "Why are zebras striped black and white?"}, {}):
        answer = await result(client, "tools/call", name="recall_context", arguments=arguments)
        assert "Zebras are striped" in answer["content"][0]["text"]
        assert answer["content"][0]["text"].endswith(f"\nIds for get_memories: {saved['id']}")
        assert answer["structuredContent"]["ids"] == [saved["id"]]
    nothing = await result(client, "tools/call", name="recall_context", arguments={"prompt": "ok"})
    assert nothing["structuredContent"]["context"] == ""
    assert nothing["content"][0]["text"]


@with_client
async def test_what_is_saved_twice_is_kept_once(client: Client) -> None:
    first = await called(client, "save_observation", title="Zebras are striped")
    again = await called(client, "save_observation", title="Zebras are striped")

    assert again == {"id": first["id"], "stored": False, "differs": [], "project": "zoo"}


@with_client
async def test_forgetting_names_what_holds_the_same_words_and_takes_it_if_told(client: Client) -> None:
    said = "Zebras have black and white stripes"
    ids = [(await called(client, "save_observation", title=f"{said} {n}", narrative=said))["id"] for n in range(4)]
    first = await called(client, "forget_memory", id=ids[0])
    assert {each["id"] for each in first["same_words"]} == set(ids[1:])
    assert first["also_forgotten"] == []
    rest = await called(client, "forget_memory", id=ids[1], same_words=True)
    assert (set(rest["also_forgotten"]), rest["same_words"]) == (set(ids[2:]), [])


@with_client
async def test_what_is_saved_otherwise_is_kept_or_named(client: Client) -> None:
    rule = {"knowledge_type": "constraint", "title": "Zebras only", "content": "No horses."}
    for more in ({}, {"severity": "hard"}, {"reason": "They are striped."}, {"files": ["zoo.py"]}):
        assert (await called(client, "store_knowledge", **rule, **more))["stored"], more
    for more in ({}, {"next_steps": "Count them"}, {"session": "another"}):
        assert (await called(client, "save_session_summary", task="Look at zebras", **more))["stored"], more
    saw = {"title": "Ran the tests", "narrative": "All of them."}
    first = await called(client, "save_observation", **saw, text="3 failed")
    again = await called(client, "save_observation", **saw, text="all 40 passed")

    assert again == {"id": first["id"], "stored": False, "differs": ["text"], "project": "zoo"}


@with_client
async def test_what_is_saved_is_redacted(client: Client) -> None:
    saved = await called(client, "save_observation", title="A token", text=f"token={SECRET}")
    (read,) = (await called(client, "get_memories", ids=[saved["id"]]))["memories"]

    assert SECRET not in json.dumps(read)


@with_client
async def test_answers_are_brief_unless_more_is_asked_for(client: Client) -> None:
    saved = await called(client, "save_observation", title="Zebras", narrative="zebra " * 600, text="t" * 3000)
    (brief,) = (await called(client, "search_memory", query="zebras"))["memories"]
    (whole,) = (await called(client, "search_memory", query="zebras", detail="full"))["memories"]
    (read,) = (await called(client, "get_memories", ids=[saved["id"]], full_text=True))["memories"]

    assert len(brief["summary"]) == 240
    assert len(whole["summary"]) == 3600
    assert (whole["text_is_cut"], len(whole["text"])) == (True, 2000)
    assert len(read["text"]) == 3000


@with_client
async def test_a_search_takes_the_filters_of_every_other_search(client: Client) -> None:
    about: dict[str, Any] = {
        "session": "s-1",
        "concepts": ["Stripes"],
        "files_read": ["zoo/zebra.py"],
        "type": "research",
    }
    saved = await called(client, "save_observation", title="Zebras", **about)
    await called(client, "save_observation", title="Zebras again")
    filters: list[dict[str, Any]] = [
        {"types": ["research", "x"]},
        {"session": "s-1"},
        {"concept": "stripes"},
        {"file": "zebra.py"},
    ]
    for wanted in filters:
        found = (await called(client, "search_memory", query="zebras", **wanted))["memories"]
        assert [each["id"] for each in found] == [saved["id"]], wanted
    day = EPOCH.date().isoformat()
    counts: list[tuple[dict[str, Any], int]] = [({"stale": True}, 0), ({"since": day, "until": day, "stale": False}, 2)]
    for wanted, count in counts:
        assert len((await called(client, "search_memory", query="zebras", **wanted))["memories"]) == count, wanted
    for moment in ("soon", "9999-12-31T23:59:59-14:00"):
        assert "$.until" in await refusal(client, "search_memory", query="zebras", until=moment)


@with_client
async def test_another_projects_memories_are_neither_read_nor_changed(client: Client) -> None:
    saved = await called(client, "save_observation", title="Zebras", project="/home/ada/other")

    assert (await called(client, "get_memories", ids=[saved["id"]]))["unknown"] == [saved["id"]]
    assert (await called(client, "search_memory", query="zebras"))["memories"] == []
    for tool, arguments in (
        ("timeline", {"around": saved["id"]}),
        ("edit_memory", {"id": saved["id"], "title": "x"}),
        ("forget_memory", {"id": saved["id"]}),
    ):
        assert saved["id"] in await refusal(client, tool, **arguments)
    assert (await called(client, "get_memories", ids=[saved["id"]], project="/home/ada/other"))["memories"]


@with_client
async def test_the_end_of_an_id_names_a_memory_as_it_does_on_the_command_line(client: Client) -> None:
    saved = await called(client, "save_observation", title="Zebras are striped")
    end = saved["id"][-6:]

    read = await called(client, "get_memories", ids=[f"\N{HORIZONTAL ELLIPSIS}{end}"])
    assert read["memories"][0]["id"] == saved["id"]
    assert (await called(client, "timeline", around=end.lower()))["memories"][0]["id"] == saved["id"]
    edited = await called(client, "edit_memory", id=end, title="Zebras have stripes")
    assert edited["replaced"] == saved["id"]
    for gone in (end, saved["id"]):
        assert f"It was replaced by {edited['id']}." in await refusal(client, "pin_memory", id=gone)
    forgotten = await called(client, "forget_memory", id=edited["id"][-6:])
    assert forgotten["id"] == edited["id"]
    assert "no memory has the id" in await refusal(client, "forget_memory", id=edited["id"][-6:])


@with_client
async def test_a_refusal_says_what_to_do(client: Client) -> None:
    reply = await send(client, "tools/call", path="/mcp", name="search_memory", arguments={"query": "x"})
    text = reply.json["result"]["content"][0]["text"]
    unknown = await refusal(client, "forget_memory", id=NO_RECORD)
    strange = await refusal(
        client, "store_knowledge", knowledge_type="decision", title="x", content="y", severity="hard"
    )

    assert "hint: Name the project in the argument project" in text
    assert "hint: " in unknown
    assert "$.severity" in strange
    assert "$.project" in await refusal(client, "search_memory", query="x", project="a/b")


# --- resources and prompts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", [versions.MODERN, "2025-06-18"])
def test_a_memory_and_a_session_are_resources(era: str) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        saved = await called(
            client, "save_observation", era, title="Zebras", narrative="Striped.", concepts=["zoo"], files_read=["a.py"]
        )
        await called(client, "save_session_summary", era, task="Look at zebras", progress="Looked.")
        await called(client, "save_observation", era, title="Lions")
        listed = (await result(client, "resources/list", era))["resources"]
        session, *memories = [each["uri"] for each in listed]
        assert session == "kiro-learn://session/s"
        assert f"kiro-learn://memory/{saved['id']}" in memories
        (memory,) = (await result(client, "resources/read", era, uri=f"kiro-learn://memory/{saved['id']}"))["contents"]
        assert memory["mimeType"] == "text/markdown"
        assert "Striped." in memory["text"]
        (read,) = (await result(client, "resources/read", era, uri=session))["contents"]
        assert all(title in read["text"] for title in ("Look at zebras", "- Zebras", "- Lions"))
        missing = await send(client, "resources/read", era, uri=f"kiro-learn://memory/{NO_RECORD}")
        assert missing.json["error"]["code"] == (-32602 if era == versions.MODERN else -32002)
        gone = await send(client, "resources/read", era, uri="kiro-learn://session/none")
        assert "error" in gone.json

    scenario()


@with_client
async def test_the_resources_are_listed_in_pages(client: Client) -> None:
    for number in range(23):
        await called(client, "store_knowledge", knowledge_type="heuristic", title=f"h{number}", content="c")
    first = await result(client, "resources/list")
    second = await result(client, "resources/list", cursor=first["nextCursor"])

    uris = [each["uri"] for each in (*first["resources"], *second["resources"]) if "/memory/" in each["uri"]]
    assert len(uris) == len(set(uris)) == 23
    assert "nextCursor" not in second
    assert (await send(client, "resources/list", cursor="no cursor of ours")).json["error"]["code"] == -32602
    assert (await send(client, "resources/list", path="/mcp")).json["result"]["resources"] == []


@with_client
async def test_recall_is_a_prompt_with_what_is_remembered(client: Client) -> None:
    await called(client, "save_observation", title="Zebras are striped", narrative="Black and white stripes.")
    question = {"question": "Why are zebras striped black and white?"}
    told = await result(client, "prompts/get", name="recall", arguments=question)
    silent = await result(client, "prompts/get", name="recall", arguments={"question": "ok"})

    assert "Zebras are striped" in told["messages"][0]["content"]["text"]
    assert "close enough" in silent["messages"][0]["content"]["text"]


# --- the transport ----------------------------------------------------------------------------------------------------


@with_client
async def test_no_session_is_made_and_a_foreign_one_is_passed_over(client: Client) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    began = await client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    after = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    noted = await client.post("/mcp", after, headers={"Mcp-Session-Id": "foreign"})
    listed = await client.post(
        "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers={"Mcp-Session-Id": "foreign"}
    )

    assert began.json["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in began.headers
    assert (noted.status, noted.text) == (202, "")
    assert len(listed.json["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_other_methods_are_not_allowed(method: str) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        reply = await client.ask(method, "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": "x"})
        assert (reply.status, reply.headers["allow"]) == (405, "POST")

    scenario()


@with_client
async def test_the_guard_stands_before_it(client: Client) -> None:
    body = message("tools/list", {}, era=versions.MODERN)
    host = {"Host": "127.0.0.1:21100", "Content-Type": "application/json"}

    assert (await client.post("/mcp", body, only=host)).status == 401
    assert (await client.post("/mcp", body, headers={"Origin": "https://evil.example"})).status == 403
    assert (await client.post("/mcp", body, headers={"Host": "evil.example"})).status == 403
    assert (await client.post("/mcp", body, kind="text/plain")).status == 415


@pytest.mark.parametrize(("accept", "status"), [("text/html", 406), ("text/event-stream", 406), ("*/*", 200)])
def test_who_takes_no_json_is_told_so(accept: str, status: int) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        reply = await client.post("/mcp", ping, headers={"Accept": accept})
        assert reply.status == status

    scenario()


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"MCP-Protocol-Version": "2025-06-18"}, 400, -32020),
        ({"Mcp-Method": "tools/list"}, 400, -32020),
        ({"Mcp-Method": ""}, 400, -32020),
        ({"Mcp-Name": "timeline"}, 400, -32020),
        ({"Mcp-Name": "=?base64?!!!?="}, 400, -32020),
        ({"Mcp-Name": ""}, 400, -32020),
        ({"Mcp-Name": f"=?base64?{base64.b64encode(b'search_memory').decode()}?="}, 200, None),
        ({}, 200, None),
    ],
)
def test_headers_repeat_the_body(changed: dict[str, str], status: int, code: int | None) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        params = {"name": "search_memory", "arguments": {"query": "x"}}
        headers = {**headers_of("tools/call", params, versions.MODERN), **changed}
        reply = await client.post(PLACE, message("tools/call", params, era=versions.MODERN), headers=headers)
        assert reply.status == status
        assert reply.json.get("error", {}).get("code") == code

    scenario()


@with_client
async def test_a_modern_body_without_its_headers_is_refused(client: Client) -> None:
    reply = await client.post("/mcp", message("tools/list", {}, era=versions.MODERN))

    assert (reply.status, reply.json["error"]["code"], reply.json["id"]) == (400, -32020, 7)


@pytest.mark.parametrize(
    ("era", "method", "status", "code"),
    [
        (versions.MODERN, "no/such", 404, -32601),
        ("2025-06-18", "no/such", 200, -32601),
        ("1999-01-01", "tools/list", 400, -32022),
    ],
)
def test_errors_have_the_status_of_the_revision(era: str, method: str, status: int, code: int) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        reply = await send(client, method, era)
        assert (reply.status, reply.json["error"]["code"]) == (status, code)

    scenario()


@with_client
async def test_a_modern_header_without_meta_is_refused(client: Client) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = await client.post("/mcp", body, headers={"MCP-Protocol-Version": versions.MODERN})

    assert (reply.status, reply.json["error"]["code"]) == (400, -32602)


@with_client
async def test_what_is_no_json_is_a_parse_error(client: Client) -> None:
    for body in (b"{", b"", b"\xff", b'{"a": NaN}', b"[" * 100_000):
        reply = await client.post("/mcp", body)
        assert (reply.status, reply.json["error"]["code"], reply.json["id"]) == (400, -32700, None)


@with_client
async def test_a_modern_error_without_an_id_has_none(client: Client) -> None:
    body = {"jsonrpc": "2.0", "id": {}, "method": "x", "params": {"_meta": META}}
    headers = {"MCP-Protocol-Version": versions.MODERN, "Mcp-Method": "x"}
    reply = await client.post("/mcp", body, headers=headers)

    assert reply.status == 400
    assert "id" not in reply.json
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (await client.post("/mcp", response, headers={"MCP-Protocol-Version": versions.MODERN})).status == 400
    assert (await client.post("/mcp", response)).status == 202


@with_client
async def test_a_batch_is_answered_by_one_array(client: Client) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    search = message("tools/call", {"name": "search_memory", "arguments": {"query": "x"}}, era="2025-03-26")
    answers = (await client.post(PLACE, [ping, {"jsonrpc": "2.0", "method": "x"}, search, 7])).json

    assert [answer["id"] for answer in answers] == [1, 7, None]
    assert (await client.post(PLACE, [{"jsonrpc": "2.0", "method": "x"}])).status == 202
    late = await client.post(PLACE, [ping], headers={"MCP-Protocol-Version": "2025-11-25"})
    assert (late.status, late.json["error"]["code"]) == (400, -32600)


@with_client
async def test_a_subscription_is_a_stream_that_ends(client: Client) -> None:
    reply = await send(client, "subscriptions/listen", notifications={"toolsListChanged": True})

    assert reply.headers["content-type"] == "text/event-stream"
    events = [json.loads(line.removeprefix("data: ")) for line in reply.text.splitlines() if line.startswith("data")]
    assert events[0]["method"] == "notifications/subscriptions/acknowledged"
    assert events[1]["result"]["resultType"] == "complete"


# --- which project ----------------------------------------------------------------------------------------------------


@with_client
async def test_a_project_that_a_model_made_up_is_neither_read_nor_made(client: Client) -> None:
    await called(client, "save_observation", title="Zebras are striped")
    for tool, arguments in (
        ("search_memory", {"query": "zebras"}),
        ("save_observation", {"title": "Lost"}),
        ("store_knowledge", {"knowledge_type": "decision", "title": "Lost", "content": "Lost."}),
        ("save_session_summary", {"task": "Lost"}),
        ("recall_context", {}),
    ):
        said = await refusal(client, tool, project="zooo", **arguments)
        assert said == "no project is called zooo\nhint: Perhaps zoo is meant."
    assert [each.display_name for each in await client.services.queries.projects()] == ["/home/ada/zoo"]
    assert (await called(client, "search_memory", query="zebras", project="zoo"))["project"] == "zoo"


@pytest.mark.parametrize("started_in", ["/", USER_HOME])
def test_a_client_that_was_started_nowhere_is_told_so(started_in: str) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        arguments = {"title": "Zebras are striped"}
        path = f"/mcp?project={started_in}"
        reply = await send(client, "tools/call", path=path, name="save_observation", arguments=arguments)
        told = reply.json["result"]["structuredContent"]
        assert (told["stored"], told["project"]) == (True, "~" if started_in == USER_HOME else "/")
        assert "name it in the argument project" in told["note"]
        named = {"title": "Another", "project": told["project"]}
        reply = await send(client, "tools/call", path=path, name="save_observation", arguments=named)
        assert "note" not in reply.json["result"]["structuredContent"], "it was named"

    scenario()


@with_client
async def test_a_new_project_of_the_client_is_said_to_be_new(client: Client) -> None:
    arguments = {"title": "Zebras are striped"}
    for note in ("No project was called giraffe before.", None):
        reply = await send(
            client, "tools/call", path="/mcp?project=giraffe", name="save_observation", arguments=arguments
        )
        assert reply.json["result"]["structuredContent"].get("note") == note


@with_client
async def test_a_memory_is_judged_by_its_end(client: Client) -> None:
    saved = await called(client, "save_observation", title="The pool holds twenty", narrative="twenty connections")
    judged = await called(client, "judge_memory", id=saved["id"][-6:], feedback="helped")
    assert (judged["id"], judged["helped"], judged["factor"]) == (saved["id"], 1, 1.075)
    assert "helped" in await refusal(client, "judge_memory", id=saved["id"], feedback="fine")


@with_client
async def test_a_memory_is_pinned_and_unpinned_by_its_end(client: Client) -> None:
    saved = await called(client, "save_observation", title="The pool holds twenty", narrative="twenty connections")
    pinned = await called(client, "pin_memory", id=saved["id"][-6:])
    assert (pinned["id"], pinned["pinned"]) == (saved["id"], True)
    assert (await called(client, "get_memories", ids=[saved["id"]]))["memories"][0]["pinned"] is True
    told = await result(client, "tools/call", name="recall_context", arguments={})
    assert "### Pinned" in told["content"][0]["text"]
    assert (await called(client, "pin_memory", id=saved["id"], pinned=False))["pinned"] is False
    assert "pinned" not in (await called(client, "get_memories", ids=[saved["id"]]))["memories"][0]
    assert "no memory has the id" in await refusal(client, "pin_memory", id=NO_RECORD)


@with_client
async def test_facts_are_looked_up_added_corrected_and_forgotten(client: Client) -> None:
    fact = await called(client, "add_fact", predicate="listens_on_port", object="9090")
    assert fact["says"].endswith(" listens on port 9090")
    wish = await called(client, "add_fact", preference="Always squash", about="merging")
    assert [each["id"] for each in (await called(client, "look_up_facts", kind="preferences"))["items"]] == [wish["id"]]
    assert "a number" not in (refused := await refusal(client, "correct_fact", id=fact["id"], object="soon"))
    assert "listens on port" in refused
    put = await called(client, "correct_fact", id=fact["id"], object="9091")
    assert put["replaced"] == fact["id"]
    assert [each["says"] for each in (await called(client, "look_up_facts", text="9091"))["items"]] == [put["says"]]
    assert (await called(client, "forget_fact", id=put["id"]))["forgotten"]
    assert (await called(client, "look_up_facts"))["items"] == []
    way = await called(client, "add_fact", procedure="release", steps=["tag it", "push the tag"])
    assert way["says"] == "release: tag it → push the tag"
    assert [each["id"] for each in (await called(client, "look_up_facts", kind="procedures"))["items"]] == [way["id"]]
    shapeless: list[dict[str, Any]] = [
        {},
        {"preference": "x", "object": "y"},
        {"predicate": "uses"},
        {"about": "x"},
        {"procedure": "x"},
        {"procedure": "x", "steps": ["y"], "preference": "z"},
    ]
    for wrong in shapeless:
        assert "expected a predicate with an object" in await refusal(client, "add_fact", **wrong)
    assert "expected one of" in await refusal(client, "add_fact", predicate="is", object="fast")


@with_client
async def test_what_cannot_be_seen_is_refused_by_the_name_of_its_argument(client: Client) -> None:
    memory = await called(client, "save_observation", title="The pool holds twenty")
    fact = await called(client, "add_fact", predicate="uses", object="Vim")
    unseen: list[tuple[str, str, dict[str, Any]]] = [
        ("add_fact", "$.object", {"predicate": "uses", "object": " "}),
        ("add_fact", "$.subject", {"predicate": "uses", "object": "Vim", "subject": " "}),
        ("add_fact", "$.preference", {"preference": "\u200b"}),
        ("add_fact", "$.about", {"preference": "Always squash", "about": " "}),
        ("add_fact", "$.procedure", {"procedure": " ", "steps": ["tag it"]}),
        ("add_fact", "$.steps", {"procedure": "release", "steps": [" "]}),
        ("correct_fact", "$.object", {"id": fact["id"], "object": " "}),
        ("correct_fact", "$.steps", {"id": fact["id"], "steps": [" "]}),
        ("edit_memory", "$.title", {"id": memory["id"], "title": " "}),
        ("edit_memory", "$.summary", {"id": memory["id"], "summary": "\t"}),
    ]
    for tool, argument, given in unseen:
        refused = await refusal(client, tool, **given)
        assert argument in refused
        assert "more than spaces" in refused


@with_client
async def test_what_is_added_may_hold_for_a_path_or_for_all_projects(client: Client) -> None:
    wish = await called(client, "add_fact", preference="Never edit these by hand", scope="db/migrations")
    assert wish["says"] == "workflow in db/migrations: Never edit these by hand"
    fact = await called(client, "add_fact", predicate="uses", object="Vim", scope="person")
    assert (fact["says"], fact["scope"], fact["project"]) == ("the user uses Vim", "person", "~")
    assert "expected person, project" in await refusal(client, "add_fact", preference="x", scope="../other")


@with_client
async def test_what_holds_for_all_projects_is_looked_up_and_changed_from_each(client: Client) -> None:
    old = await called(client, "add_fact", predicate="uses", object="Vim", scope="person")
    own = await called(client, "add_fact", predicate="uses", object="Redis")
    listed = (await called(client, "look_up_facts"))["items"]
    assert [(each["id"], each.get("scope")) for each in listed] == [(own["id"], None), (old["id"], "person")]
    put = await called(client, "correct_fact", id=old["id"], object="Emacs")
    assert (put["says"], put["project"]) == ("the user uses Emacs", "~")
    assert (await called(client, "forget_fact", id=put["id"]))["project"] == "~"
    assert [each["id"] for each in (await called(client, "look_up_facts"))["items"]] == [own["id"]]
    elsewhere = await called(client, "look_up_facts", project="~")
    assert elsewhere["items"] == []
