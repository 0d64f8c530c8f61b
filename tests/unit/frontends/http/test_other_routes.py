"""Status, projects, embeddings, hooks."""

from __future__ import annotations

from typing import Any

import structlog
import trio

from kiro_learn.adapters.files.logs import places_of_exception
from kiro_learn.errors import StorageBusy, StorageUnavailable
from kiro_learn.model.namespace import namespace_of, project_id_in
from kiro_learn.model.version import __version__
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_record, with_client


def wire(number: int, **options: Any) -> dict[str, Any]:
    return write_event(an_event(number, **options))


@with_client
async def test_healthz_needs_no_token(client: Client) -> None:
    reply = await client.get("/healthz", only={"Host": "localhost:21100"})
    answer = {"status": "ok", "version": __version__, "pid": 1, "build": "b1"}
    assert (reply.status, reply.json) == (200, answer)


@with_client
async def test_status_tells_of_every_part(client: Client) -> None:
    await client.post("/v1/events", wire(1))
    status = (await client.get("/v1/status")).json
    assert (status["version"], status["build"]) == (__version__, "b1")
    assert status["waiting"]["event_count"] == 1
    assert status["embedder"]["state"] in {"loading", "ready"}
    assert [project["namespace"] for project in status["projects"]] == [NAMESPACE]


@with_client
async def test_stats_count_and_name_the_projects(client: Client) -> None:
    await client.post("/v1/events", wire(1))
    await client.post("/v1/memories", a_record(1))
    stats = (await client.get("/v1/stats")).json
    assert (stats["total_events"], stats["total_memories"], stats["total_concepts"]) == (1, 1, 1)
    assert (stats["event_kinds"], stats["observation_types"]) == ({"prompt": 1}, {"discovery": 1})
    (project,) = stats["projects"]
    assert (project["project_id"], project["event_count"], project["memory_count"]) == ("a" * 64, 1, 1)
    assert project["display_name"]
    assert "size_bytes" not in project


@with_client
async def test_a_project_is_as_large_as_what_is_stored_of_it(client: Client) -> None:
    await client.post("/v1/events", wire(1))
    (before,) = (await client.get("/v1/stats?sizes=true")).json["projects"]
    await client.post("/v1/memories", a_record(1))
    (after,) = (await client.get("/v1/stats?sizes=true")).json["projects"]
    assert 0 < before["size_bytes"] < after["size_bytes"]


@with_client
async def test_a_folder_is_told_its_namespace(client: Client) -> None:
    reply = (await client.get("/v1/namespace?cwd=/home/ada/shop")).json
    assert reply["project_path"] == "/home/ada/shop"
    assert reply["namespace"] == namespace_of("ada", reply["project_id"])


@with_client
async def test_a_relative_folder_has_no_namespace(client: Client) -> None:
    reply = await client.get("/v1/namespace?cwd=shop")
    assert (reply.status, reply.json["error"]) == (400, "cwd must be an absolute path")


@with_client
async def test_flush_learns_all_that_waits(client: Client) -> None:
    for number in range(3):
        await client.post("/v1/events", wire(number))
    reply = await client.post(f"/v1/projects/{project_id_in(NAMESPACE)}/flush")
    assert (reply.status, reply.json) == (200, {"events": 3, "records": 3, "parked": 0})
    assert (await client.get("/v1/memories")).json["total"] == 3


@with_client
async def test_an_unknown_project_cannot_be_flushed(client: Client) -> None:
    assert (await client.post("/v1/projects/none/flush", {})).status == 404


@with_client
async def test_embeddings_are_counted(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    assert (await client.post("/v1/embeddings/backfill")).status == 200
    stats = (await client.get("/v1/embeddings/stats")).json
    assert (stats["total"], stats["embedded"], stats["percentage"]) == (1, 1, 100.0)
    assert (stats["dimensions"], stats["available"]) == (384, True)
    assert stats["provider"]


HOOK = {"hook_event_name": "userPromptSubmit", "cwd": "/home/ada/shop", "prompt": "what of zebras?"}


@with_client
async def test_a_hook_is_stored_and_prints_nothing_when_there_is_nothing_to_say(client: Client) -> None:
    reply = await client.post("/v1/hooks/kiro-cli?retrieve=true", HOOK, headers={"X-Hook-Process": "7"})
    assert (reply.status, reply.text) == (200, "")
    assert reply.headers["content-type"].startswith("text/plain")
    assert (await client.get("/v1/events")).json["total"] == 1


@with_client
async def test_a_hook_prints_what_is_remembered(client: Client) -> None:
    namespace = (await client.get("/v1/namespace?cwd=/home/ada/shop")).json["namespace"]
    await client.post("/v1/memories", a_record(1, namespace=namespace))
    reply = await client.post("/v1/hooks/kiro-cli?retrieve=true", HOOK)
    assert reply.text.startswith("## Prior observations from kiro-learn")


@with_client
async def test_a_hook_that_makes_no_sense_is_answered_with_nothing(client: Client) -> None:
    for agent, payload in (("kiro-cli", b"\xff{"), ("kiro-cli", b""), ("nobody", b"{}"), ("kiro-cli", b"[1e999]")):
        reply = await client.post(f"/v1/hooks/{agent}?retrieve=true", payload, kind="application/octet-stream")
        assert (reply.status, reply.text) == (200, "")
    assert (await client.get("/v1/events")).json["total"] == 0


@with_client
async def test_a_hook_that_cannot_be_kept_is_told_so(client: Client) -> None:
    """The shim keeps it then, and delivers it later."""
    client.storage.fail_next_write(StorageBusy("the database is locked"))
    client.storage.fail_next_write(StorageBusy("the database is locked"))
    assert (await client.post("/v1/hooks/kiro-cli", HOOK)).status == 503


@with_client
async def test_a_store_that_cannot_be_read_is_no_secret(client: Client) -> None:
    client.storage.fail_next_read(StorageUnavailable("kiro-learn.db", hint="Is the disk there?"))
    reply = await client.get("/v1/memories")
    assert (reply.status, reply.json["hint"]) == (503, "Is the disk there?")
    assert int(reply.headers["retry-after"]) > 0


@with_client
async def test_an_unexpected_error_is_told_to_the_log_alone_and_without_contents(client: Client) -> None:
    client.storage.fail_next_read(ZeroDivisionError("what was being read"))
    with structlog.testing.capture_logs() as lines:
        reply = await client.get("/v1/memories")
    assert (reply.status, reply.json) == (500, {"error": "internal error"})
    (line,) = lines
    assert (line["event"], line["log_level"], line["error"]) == ("request.failed", "error", "ZeroDivisionError")
    told = places_of_exception(None, "error", dict(line))
    assert told["raised"]["at"][-1].startswith("testing/storage.py:")
    assert "what was being read" not in str(told)


@with_client
async def test_what_takes_too_long_is_a_gateway_timeout(client: Client) -> None:
    client.storage.fail_next_read(trio.TooSlowError())
    assert (await client.get("/v1/memories")).status == 504


@with_client
async def test_the_last_prompts_are_listed_with_how_they_were_answered(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    for number, text in enumerate(("what about zebras?", "what of zebras?")):
        await client.post("/v1/events?retrieve=true", wire(number, text=text) | {"session_id": f"s-{number}"})
    reply = (await client.get("/v1/retrievals?limit=1")).json
    (item,) = reply["items"]
    assert (item["query_characters"], item["records"][0]["record_id"]) == (15, a_record(1)["record_id"])
    assert item["records"][0]["shown"]
    assert {"words", "records", "render"} <= item["stages_ms"].keys()
    assert reply["rates"]["retrievals"] == 2
    assert reply["rates"]["strategies"] == {"mcp_observation": {"found": 1.0, "told": 1.0}}
    assert "zebra" not in str(reply)

    await client.post("/v1/events?retrieve=true", wire(2, text="what did we do with zebras?") | {"session_id": "s-1"})
    (item,) = (await client.get("/v1/retrievals?limit=1")).json["items"]
    assert (item["left_out"], item["silent_because"]) == ({"told_before": 1}, "all of it was told before")
    assert (item["records"][0]["shown"], item["records"][0]["told_before"]) == (False, True)


@with_client
async def test_the_last_prompts_of_another_project_are_not_listed(client: Client) -> None:
    await client.post("/v1/events?retrieve=true", wire(1))
    other = namespace_of("ada", "b" * 64)
    assert (await client.get(f"/v1/retrievals?namespace={other}")).json["items"] == []
    assert len((await client.get(f"/v1/retrievals?namespace={NAMESPACE}")).json["items"]) == 1
    assert (await client.get("/v1/retrievals?limit=ten")).status == 400
