"""Pins over HTTP: set and removed, listed by a filter, part of a memory's history, and undone."""

from __future__ import annotations

from tests.unit.frontends.http.asking import Client, a_record, with_client
from tests.unit.frontends.http.test_history import ANY_ID, ids, keep, path, replace

PIN = "/pin"


@with_client
async def test_a_pin_is_set_and_taken_away(client: Client) -> None:
    await keep(client, 1)
    before = (await client.get(path(1))).json
    reply = await client.post(path(1, PIN))
    pinned = (await client.get(path(1))).json
    assert (reply.status, reply.json) == (200, pinned)
    assert {name: value for name, value in pinned.items() if name != "pinned_at"} == before
    reply = await client.ask("DELETE", path(1, PIN))
    assert (reply.status, reply.json) == (200, before)
    assert (await client.get(path(1))).json == before


@with_client
async def test_what_is_not_there_is_neither_pinned_nor_unpinned(client: Client) -> None:
    for reply in (await client.post(path(99, PIN)), await client.ask("DELETE", path(99, PIN))):
        assert (reply.status, reply.json["error"]) == (404, f"no memory has the id {ANY_ID}")


@with_client
async def test_lists_and_searches_know_what_is_pinned(client: Client) -> None:
    await keep(client, 1, 2, 3)
    await client.post(path(2, PIN))
    for place in ("/v1/memories?", "/v1/search?query=zebras&"):
        shown = {}
        for said in ("true", "false"):
            body = (await client.get(f"{place}pinned={said}")).json
            items = body["items"] if "items" in body else [hit["memory"] for hit in body["hits"]]
            shown[said] = sorted(each["record_id"] for each in items)
        assert shown == {"true": ids(2), "false": ids(1, 3)}, place
    assert (await client.get("/v1/memories?pinned=perhaps")).status == 400


@with_client
async def test_a_pin_is_part_of_the_history_and_is_undone(client: Client) -> None:
    await keep(client, 1)
    pinned_at = (await client.post(path(1, PIN))).json["pinned_at"]
    history = (await client.get(path(1, "/history"))).json
    assert history == {"record_id": a_record(1)["record_id"], "pinned_at": pinned_at, "replacements": []}
    reply = await client.post(path(1, "/undo"))
    assert (reply.status, reply.json) == (200, {"undone": "pin", "removed": [], "restored": []})
    assert "pinned_at" not in (await client.get(path(1))).json
    assert (await client.post(path(1, "/undo"))).status == 409


@with_client
async def test_what_replaces_a_pinned_memory_is_pinned(client: Client) -> None:
    await keep(client, 1, 2)
    pinned_at = (await client.post(path(1, PIN))).json["pinned_at"]
    await replace(client, [3], [1, 2])
    assert (await client.get(path(3))).json["pinned_at"] == pinned_at


@with_client
async def test_lines_bring_their_pins_along(client: Client) -> None:
    await keep(client, 1)
    pinned = (await client.post(path(1, PIN))).json
    await client.ask("DELETE", path(1))
    other = a_record(2) | {"pinned_at": pinned["pinned_at"]}
    await client.post("/v1/memories", other)
    assert (await client.get(path(2))).json["pinned_at"] == pinned["pinned_at"]


@with_client
async def test_the_history_of_a_memory_whose_row_is_damaged_is_shown_without_a_pin(client: Client) -> None:
    await keep(client, 1)
    await replace(client, [2], [1])
    client.storage.damage_row(ids(2)[0])
    history = await client.get(path(2, "/history"))
    assert (history.status, sorted(history.json)) == (200, ["record_id", "replacements"])
