"""Storing, finding, importing and forgetting memories."""

from __future__ import annotations

import json
from urllib.parse import quote

import trio

from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_record, with_client

NDJSON = "application/x-ndjson"


def lines(*values: object) -> bytes:
    return b"\n".join(value if isinstance(value, bytes) else json.dumps(value).encode() for value in values)


@with_client
async def test_a_record_is_kept_and_comes_back_as_it_was(client: Client) -> None:
    record_id = a_record(1)["record_id"]
    put = await client.post("/v1/memories", a_record(1))
    assert (put.status, put.json) == (200, {"record_id": record_id, "stored": True})
    assert (await client.get(f"/v1/memories/{record_id}")).json == a_record(1) | {
        "created_at": "2026-01-05T12:00:00.000000Z"
    }


@with_client
async def test_a_known_id_is_a_conflict(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    assert (await client.post("/v1/memories", a_record(1))).status == 409


@with_client
async def test_memories_of_all_projects_are_paged_by_a_cursor_and_filtered(client: Client) -> None:
    other = NAMESPACE.replace("/project/", "/project/f")
    for number in range(6):
        at, of = f"2026-01-05T12:00:0{number}Z", {} if number % 2 else {"namespace": other}
        await client.post("/v1/memories", a_record(number, created_at=at, concepts=[f"c{number % 3}"], **of))
    page = (await client.get("/v1/memories?limit=2")).json
    seen = [each["title"] for each in page["items"]]
    while page["next_cursor"]:
        page = (await client.get(f"/v1/memories?limit=2&cursor={page['next_cursor']}")).json
        seen += [each["title"] for each in page["items"]]
        assert page["total"] == 6
    assert seen == [f"Lesson {number}" for number in (5, 4, 3, 2, 1, 0)]
    fitting = (await client.get("/v1/memories?concept=c0")).json
    assert ([each["title"] for each in fitting["items"]], fitting["total"]) == (["Lesson 3", "Lesson 0"], 6)
    within = (await client.get(f"/v1/memories?concept=c0&namespace={quote(other)}")).json
    assert ([each["title"] for each in within["items"]], within["total"]) == (["Lesson 0"], 3)
    assert (await client.get("/v1/memories?concept=c0&offset=1")).status == 400


@with_client
async def test_memories_are_listed_with_their_total(client: Client) -> None:
    for number in range(3):
        await client.post("/v1/memories", a_record(number))
    page = (await client.get("/v1/memories?limit=2&offset=1")).json
    assert (len(page["items"]), page["total"], page["limit"], page["offset"]) == (2, 3, 2, 1)


@with_client
async def test_limits_outside_their_range_are_moved_into_it(client: Client) -> None:
    for asked, used in ((0, 1), (-5, 1), (501, 500), (10**30, 500)):
        assert (await client.get(f"/v1/memories?limit={asked}&offset=-1")).json["limit"] == used


@with_client
async def test_search_answers_a_bare_list_best_first(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    await client.post("/v1/memories", a_record(2, title="Zebras", summary="zebras, zebras"))
    for mode in ("", "&mode=hybrid", "&mode=lexical"):
        found = (await client.get(f"/v1/memories/search?namespace={quote(NAMESPACE)}&query=zebras{mode}")).json
        assert {record["title"] for record in found} == {"Zebras", "Lesson 1"}


@with_client
async def test_search_needs_a_namespace_and_a_query(client: Client) -> None:
    replies = [
        await client.get(f"/v1/memories/search?{query}")
        for query in ("query=x", f"namespace={NAMESPACE}", f"namespace={NAMESPACE}&query=", "namespace=/x/&query=x")
    ]
    assert [reply.status for reply in replies] == [400] * 4
    assert [reply.json["error"] for reply in replies] == [
        "namespace parameter is required",
        "query parameter is required",
        "query parameter is required",
        "invalid namespace",
    ]


@with_client
async def test_an_import_keeps_the_good_lines_and_names_the_others(client: Client) -> None:
    await client.post("/v1/memories", a_record(1))
    body = lines(a_record(1), b"", a_record(2), b"{", a_record(3, title=""), a_record(4), b"")
    reply = await client.post("/v1/memories/import", body, kind=NDJSON)
    assert (reply.json["imported"], reply.json["skipped"]) == (2, 1)
    assert [error["line"] for error in reply.json["errors"]] == [4, 5]
    assert "$.title" in reply.json["errors"][1]["problem"]


@with_client
async def test_a_project_that_only_an_import_names_is_shown_by_its_folder(client: Client) -> None:
    found = (await client.get("/v1/namespace?cwd=/home/me/shop")).json
    ours, other = a_record(1, namespace=found["namespace"]), a_record(2)
    for _time in range(2):  # a known one makes the project known too
        await client.post("/v1/memories/import?cwd=/home/me/shop", lines(ours, other), kind=NDJSON)
        listed = (await client.get("/v1/stats")).json["projects"]
        folders = {
            each["namespace"]: (await client.get(f"/api/project?project={each['namespace']}")).json["folder"]
            for each in listed
        }
        assert folders == {found["namespace"]: "/home/me/shop", NAMESPACE: None}


@with_client
async def test_what_is_forgotten_is_gone_everywhere(client: Client) -> None:
    record_id = a_record(1)["record_id"]
    await client.post("/v1/memories", a_record(1))
    reply = await client.ask("DELETE", f"/v1/memories/{record_id}")
    said = {"record_id": record_id, "forgotten": True, "also_forgotten": [], "same_words": []}
    assert (reply.status, reply.json) == (200, said)
    assert (await client.get(f"/v1/memories/{record_id}")).status == 404
    assert (await client.ask("DELETE", f"/v1/memories/{record_id}")).status == 404
    assert (await client.get(f"/v1/memories/search?namespace={NAMESPACE}&query=zebras")).json == []


@with_client
async def test_what_is_damaged_is_named_and_the_rest_is_answered(client: Client) -> None:
    for number in (1, 2):
        await client.post("/v1/memories", a_record(number) | {"title": "The token cache expires early"})
    await trio.sleep(100)
    broken = a_record(1)["record_id"]
    client.storage.damage_row(broken)
    client.storage.damage_words(NAMESPACE)
    listed = await client.get("/v1/memories")
    assert ([item["record_id"] for item in listed.json["items"]], listed.json["damaged"]) == (
        [a_record(2)["record_id"]],
        [broken],
    )
    assert (await client.get("/v1/events")).json["damaged"] == []
    found = await client.get(f"/v1/memories/search?namespace={quote(NAMESPACE)}&query=token+cache")
    assert [item["record_id"] for item in found.json] == [a_record(2)["record_id"]]
    assert found.headers["x-damaged"] == broken
    assert found.headers["x-degraded"].startswith("words: the index is damaged")
    assert (await client.get(f"/v1/memories/{broken}")).status == 503
    assert (await client.get("/v1/status")).json["damaged"] == {"count": 1, "rows": [broken]}


@with_client
async def test_memories_with_stale_files_are_listed(client: Client) -> None:
    reply = await client.get(f"/v1/memories/stale?namespace={quote(NAMESPACE)}")
    assert reply.json == {"folder": None, "items": [], "total": 0, "limit": 100, "offset": 0}
    assert (await client.get("/v1/memories/stale")).status == 400

    folder = an_event(1).source.project_path
    assert folder is not None
    client.files.folders[folder] = {}
    await client.post("/v1/events", write_event(an_event(1)))
    for number in (1, 2):
        await client.post("/v1/memories", a_record(number, files_touched=["src/pool.py"]))
    page = (await client.get(f"/v1/memories/stale?namespace={quote(NAMESPACE)}&limit=1&offset=1")).json
    assert (page["folder"], page["total"], page["limit"], page["offset"]) == (folder, 2, 1, 1)
    (item,) = page["items"]
    assert (item["files_gone"], item["files_changed"], item["title"]) == (["src/pool.py"], [], item["title"])
