"""Pages of records, the timeline around one, sessions, figures, reports, embeddings and stale files, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import trio

from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import EPOCH
from tests.unit.frontends.http.asking import Client, a_record, with_client

FOLDER = "/home/ada/shop"


async def observe(client: Client, title: str, **fields: Any) -> str:
    reply = await client.post("/api/observations", {"project": "my-api", "title": title, "session": "s-1", **fields})
    await trio.sleep(1)
    return str(reply.json["id"])


def event_id(number: int) -> str:
    return f"01{number:024d}"


async def report(client: Client, number: int, *, session: str = "s-1", text: str = "", **fields: Any) -> None:
    event = {
        "event_id": event_id(number),
        "session_id": session,
        "actor_id": "ada",
        "namespace": NAMESPACE,
        "schema_version": 1,
        "body": {"type": "text", "content": text},
        "valid_time": f"2026-01-05T11:00:{number:02d}Z",
        "source": {"surface": "claude-code", "version": "1", "client_id": "ada"},
    } | fields
    assert (await client.post("/v1/events", event)).status == 200


async def learn(client: Client, title: str, *, project: str = "my-api") -> None:
    item = {"project": project, "knowledge_type": "decision", "title": title, "content": "because"}
    assert (await client.post("/api/knowledge", item)).status == 200
    await trio.sleep(1)


@with_client
async def test_records_are_paged_by_a_cursor_that_new_ones_do_not_move(client: Client) -> None:
    stored = [await observe(client, f"number {number}") for number in range(5)]
    path = "/api/observations?project=my-api&limit=2"
    first = (await client.get(path)).json
    await observe(client, "newer")
    second = (await client.get(f"{path}&cursor={first['next_cursor']}")).json
    third = (await client.get(f"{path}&cursor={second['next_cursor']}")).json
    seen = [item["record_id"] for page in (first, second, third) for item in page["items"]]
    assert seen == stored[::-1]
    assert third["next_cursor"] is None
    assert (await client.get(f"{path}&cursor=none")).status == 400


@with_client
async def test_records_are_listed_by_type_and_date_and_knowledge_alone(client: Client) -> None:
    await observe(client, "read", type="file-read")
    await observe(client, "written", type="file-write")
    await learn(client, "decided")
    for query, titles in (
        ("observations?project=my-api&type=file-read", ["read"]),
        ("observations?project=my-api&type=decision", ["decided"]),
        ("observations?project=my-api&until=2026-01-05T12:00:01Z", ["read"]),
        ("knowledge?project=my-api", ["decided"]),
        ("knowledge?project=/home/ada/another", []),
    ):
        page = (await client.get(f"/api/{query}")).json
        assert [item["title"] for item in page["items"]] == titles, query


@with_client
async def test_a_timeline_goes_around_a_record_within_its_project(client: Client) -> None:
    stored = [await observe(client, f"number {number}") for number in range(5)]
    await observe(client, "elsewhere", project="another")
    reply = (await client.get(f"/api/timeline?anchor={stored[2]}&depth_before=1&depth_after=9")).json
    assert [entry["title"] for entry in reply["timeline"]] == ["number 1", "number 2", "number 3", "number 4"]
    assert reply["anchor"] == stored[2]
    assert list(reply["timeline"][0]) == ["id", "title", "content", "type", "created_at"]
    assert (await client.get("/api/timeline?anchor=mr_none")).status == 404


@with_client
async def test_sessions_and_their_checkpoints(client: Client) -> None:
    await observe(client, "in the first", session="s-1")
    await observe(client, "in the second", session="s-2")
    sessions = (await client.get("/api/sessions?project=my-api")).json["items"]
    assert [(each["session_id"], each["event_count"]) for each in sessions] == [("s-2", 1), ("s-1", 1)]
    assert (await client.get("/api/resume?project=my-api")).status == 404
    for session, task in (("s-1", "Move the parser"), ("s-2", "Test it")):
        checkpoint = {"project": "my-api", "session": session, "task": task, "next_steps": f"finish {task}"}
        await client.post("/api/checkpoints", checkpoint)
        await trio.sleep(1)
    assert (await client.get("/api/resume?project=my-api")).json["title"] == "Test it"
    first = (await client.get("/api/resume?project=my-api&session=s-1")).json
    assert (first["title"], first["details"]["next_steps"]) == ("Move the parser", "finish Move the parser")
    assert (await client.get("/api/resume?project=my-api&session=s-3")).status == 404


@with_client
async def test_sessions_of_all_projects_are_paged_with_what_they_began_with(client: Client) -> None:
    for number in range(3):
        await report(client, number, session=f"s-{number}", kind="prompt", text=f"why is {number} slow?")
    other = NAMESPACE.replace("/project/", "/project/f")
    await report(client, 9, session="s-9", kind="note", text="begun", namespace=other)
    await client.post("/v1/memories", a_record(1, namespace=other, source_event_ids=[event_id(9)]))
    first = (await client.get("/api/sessions?limit=2")).json
    second = (await client.get(f"/api/sessions?limit=2&cursor={first['next_cursor']}")).json
    listed = [*first["items"], *second["items"]]
    assert [each["session_id"] for each in listed] == ["s-9", "s-2", "s-1", "s-0"]
    assert [each["first_prompt"] for each in listed] == [None, *(f"why is {number} slow?" for number in (2, 1, 0))]
    assert [each["memory_count"] for each in listed] == [1, 0, 0, 0]
    assert second["next_cursor"] is None
    assert (await client.get("/api/sessions?cursor=none")).status == 400


@with_client
async def test_a_session_shows_its_events_and_what_came_from_each(client: Client) -> None:
    use = {"type": "json", "data": {"tool_name": "Bash", "tool_input": {"command": "pnpm test", "timeout": 5}}}
    await report(client, 1, kind="prompt", text="x" * 3000)
    await report(client, 2, kind="tool_use", body=use)
    await report(client, 3, kind="session_summary", text="Node 20 it is.")
    stored = a_record(1, source_event_ids=[event_id(1), event_id(3)])
    await client.post("/v1/memories", stored)
    path = f"/api/session?project={quote(NAMESPACE)}&session=s-1&limit=2"
    page = (await client.get(path)).json
    rest = (await client.get(f"{path}&cursor={page['next_cursor']}")).json
    assert [
        (each["kind"], each["tool"], each["text"][:9], each["is_cut"]) for each in (*page["items"], *rest["items"])
    ] == [
        ("prompt", None, "x" * 9, True),
        ("tool_use", "Bash", "pnpm test", False),
        ("session_summary", None, "Node 20 i", False),
    ]
    named = [{"record_id": stored["record_id"], "title": "Lesson 1"}]
    assert [each["memories"] for each in (*page["items"], *rest["items"])] == [named, [], named]
    assert (page["session"]["event_count"], rest["next_cursor"]) == (3, None)
    assert (await client.get(f"/api/session?project={quote(NAMESPACE)}&session=s-7")).status == 404

    sources = (await client.get(f"/v1/memories/{stored['record_id']}/events")).json
    assert [each["event_id"] for each in sources["items"]] == [event_id(1), event_id(3)]
    assert (sources["event_count"], sources["told"], sources["told_by"]) == (2, [], ["ada"])
    assert (await client.get("/v1/memories/none/events")).status == 404


@with_client
async def test_the_context_of_a_start_can_be_asked_for(client: Client) -> None:
    await observe(client, "seen")
    await learn(client, "decided")
    reply = (await client.get("/api/context?project=my-api&tokens=500")).json
    assert reply["context"].index("decided") < reply["context"].index("seen")
    assert (len(reply["records"]), reply["tokens"] <= 500) == (2, True)
    assert (await client.get("/api/context?project=/home/ada/another")).json["context"] == ""


@with_client
async def test_days_count_what_was_learned_asked_and_told_also_those_without_any(client: Client) -> None:
    await observe(client, "The zebra pool holds twenty", text="long output " * 200, project=FOLDER)
    await observe(client, "elsewhere", project="another")
    hook = {"cwd": FOLDER, "session_id": "t", "hook_event_name": "UserPromptSubmit"}
    for prompt in ("How are you?", "How many does the zebra pool hold?"):
        await client.post("/v1/hooks/claude-code?retrieve=true", hook | {"prompt": prompt})
        await trio.sleep(86_400)
    told = (await client.get("/v1/retrievals?limit=1")).json["items"][0]["records"][0]["record_id"]
    await client.post(f"/v1/memories/{told}/feedback", {"feedback": "helped"})

    reply = (await client.get(f"/api/days?project={FOLDER}&days=4")).json
    everywhere = (await client.get("/api/days?days=4")).json

    days = [(each["day"], each["learned"], each["told"], each["prompts"], each["sessions"]) for each in reply["days"]]
    assert days == [
        ("2026-01-04", 0, 0, 0, 0),
        ("2026-01-05", 2, 0, 1, 2),
        ("2026-01-06", 1, 1, 1, 1),
        ("2026-01-07", 0, 0, 0, 0),
    ]
    assert [each["learned"] for each in everywhere["days"]] == [0, 3, 1, 0]
    assert (reply["memories"], everywhere["memories"]) == (3, 4)
    assert [*reply["sessions"].values()] == [2]
    assert sum(everywhere["sessions"].values()) == 3
    assert (reply["feedback"]["helped"], reply["feedback"]["wrong"]) == (1, 0)
    assert (reply["latency_ms"]["answers"], sum(reply["latency_ms"]["bins"].values())) == (2, 2)
    assert reply["budget_ms"] == 500


@with_client
async def test_days_and_figures_count_no_session_that_the_list_of_sessions_lacks(client: Client) -> None:
    await observe(client, "seen in a session", project=FOLDER)
    await learn(client, "decided outside of any session", project=FOLDER)

    reply = (await client.get(f"/api/days?project={FOLDER}&days=1")).json
    listed = (await client.get(f"/api/sessions?project={FOLDER}")).json["items"]
    figures = (await client.get(f"/api/analytics?project={FOLDER}")).json

    assert [each["session_id"] for each in listed] == ["s-1"]
    assert reply["days"][0]["sessions"] == 1
    assert [*reply["sessions"].values()] == [1]
    assert figures["sessions"] == 1


@with_client
async def test_the_preview_of_a_start_is_what_a_session_is_told_to_the_byte(client: Client) -> None:
    client.files.texts[FOLDER] = {"package.json": '{"name": "shop", "scripts": {"test": "vitest"}}'}
    for number in range(12):
        await learn(client, f"decided for the {number}th time to keep the pool of connections small", project=FOLDER)
    before = (await client.get(f"/api/context?project={FOLDER}&agent=claude-code")).json
    hook = {"cwd": FOLDER, "session_id": "t", "hook_event_name": "SessionStart", "source": "startup"}
    assert (await client.post("/v1/hooks/claude-code?retrieve=true", hook)).text == before["context"]
    assert "### This project" in before["context"]
    assert (await client.get(f"/api/context?project={FOLDER}&agent=claude-code")).json == before, (
        "it was not told by it"
    )

    short = (await client.get(f"/api/context?project={FOLDER}&bytes=400&profile=false")).json["context"]
    assert ("### This project" in short, 0 < len(short.encode()) <= 400) == (False, True)
    assert (await client.get(f"/api/context?project={FOLDER}&bytes=0")).json["context"] == ""


@with_client
async def test_figures_count_records_days_and_what_was_told(client: Client) -> None:
    await observe(client, "The zebra pool holds twenty", type="file-read", text="long output " * 200, project=FOLDER)
    await learn(client, "decided")
    await trio.sleep(10)
    hook = {"cwd": FOLDER, "session_id": "t"}
    start = {"hook_event_name": "SessionStart", "source": "startup"}
    assert (await client.post("/v1/hooks/claude-code?retrieve=true", hook | start)).text, (
        "a line of it, which is no telling"
    )
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "How many does the zebra pool hold?"}
    assert (await client.post("/v1/hooks/claude-code?retrieve=true", hook | prompt)).text
    await trio.sleep(10)
    figures = (await client.get(f"/api/analytics?project={FOLDER}")).json
    assert (figures["observations"], figures["captured"], figures["types"]) == (1, 1, {"file-read": 1})
    assert (figures["sessions"], figures["days"]) == (2, [{"day": "2026-01-05", "count": 1}])
    tokens = figures["token_economics"]
    assert tokens["tellings"] == 1
    assert tokens["replaced_bytes"] >= 2_400
    assert tokens["saved_tokens"] == (tokens["replaced_bytes"] - tokens["told_bytes"]) // 4
    assert (await client.get("/api/analytics?project=/home/ada/another")).json["token_economics"][
        "reduction_percent"
    ] == 0.0


@with_client
async def test_a_report_comes_as_json_markdown_and_text(client: Client) -> None:
    await observe(client, "# Modified auth.ts", files_modified=["auth.ts"])
    await learn(client, "decided")
    report = (await client.get("/api/report?project=my-api&period=month")).json
    assert (report["observations"], report["knowledge"], report["files"]) == (
        2,
        ["decided"],
        [{"path": "auth.ts", "count": 1}],
    )
    markdown = await client.get("/api/report?project=my-api&format=markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "## Knowledge\n\n- decided\n" in markdown.text
    assert "\n# Modified" not in markdown.text
    text = (await client.get("/api/report?project=my-api&format=text")).text
    assert "#" not in text.replace("# Modified", "")
    assert (await client.get("/api/report?project=my-api&period=year")).status == 400


@with_client
async def test_embeddings_answer_as_the_guide_shows(client: Client) -> None:
    await observe(client, "one")
    await trio.sleep(10)
    stats = (await client.get("/api/embeddings/stats")).json
    assert list(stats) == ["total", "embedded", "percentage", "provider", "dimensions", "available"]
    assert (stats["total"], stats["embedded"], stats["percentage"], stats["available"]) == (1, 1, 100.0, True)
    assert (await client.post("/api/embeddings/backfill", {"batchSize": 100})).json == {"embedded": 0}
    assert (await client.post("/api/embeddings/backfill")).status == 200
    refused: list[Any] = [{"batchSize": 0}, {"batchSize": "many"}, []]
    for wrong in refused:
        assert (await client.post("/api/embeddings/backfill", wrong)).status == 400


@with_client
async def test_stale_files_are_noted_and_the_note_is_taken_back(client: Client) -> None:
    stored = await observe(client, "about a pool", files_read=["pool.py"], project=FOLDER)
    assert (await client.post("/api/stale?project=/home/ada/another")).json["folder"] is None
    client.files.folders[FOLDER] = {"pool.py": EPOCH + timedelta(days=1)}
    first = (await client.post(f"/api/stale?project={FOLDER}")).json
    assert first == {"folder": FOLDER, "stale": 1, "marked": 1, "cleared": 0, "unchecked": 0}
    found = (await client.get(f"/api/search?q=pool&project={FOLDER}")).json["results"]
    assert [(each["id"], "stale_at" in each) for each in found] == [(stored, True)]
    assert (await client.post(f"/api/stale?project={FOLDER}")).json["marked"] == 0
    client.files.folders[FOLDER] = {"pool.py": EPOCH - timedelta(days=1)}
    assert (await client.post(f"/api/stale?project={FOLDER}")).json["cleared"] == 1
    found = (await client.get(f"/api/search?q=pool&project={FOLDER}")).json["results"]
    assert "stale_at" not in found[0]
