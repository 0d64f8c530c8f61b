"""Correcting a memory over HTTP: named fields change, others stay, and a refusal names the wrong field."""

from __future__ import annotations

from tests.unit.frontends.http.asking import Client, with_client

OBSERVATION = {"project": "my-api", "type": "command", "title": "Zebras are stripped", "narrative": "On the plain."}


@with_client
async def test_a_corrected_memory_takes_the_place_of_one(client: Client) -> None:
    old = (await client.post("/api/observations", OBSERVATION)).json["id"]
    done = await client.post("/v1/memories/edit", {"project": "my-api", "id": old, "title": "Zebras have stripes"})
    assert (done.status, done.json["replaced"], done.headers["x-project"]) == (200, old, "my-api")
    corrected = (await client.get(f"/v1/memories/{done.json['id']}")).json
    assert (corrected["title"], corrected["summary"]) == ("Zebras have stripes", "On the plain.")
    assert (await client.get(f"/v1/memories/{old}")).status == 404
    history = (await client.get(f"/v1/memories/{done.json['id']}/history")).json["replacements"]
    assert [each["record_id"] for each in history[0]["replaced"]] == [old]


@with_client
async def test_a_refusal_is_about_what_was_sent_and_names_no_tool(client: Client) -> None:
    old = (await client.post("/api/observations", OBSERVATION)).json["id"]
    wrong = await client.post("/v1/memories/edit", {"project": "my-api", "id": old, "title": " ", "facts": "a text"})
    assert (wrong.status, sorted(each["path"] for each in wrong.json["details"])) == (400, ["$.facts", "$.title"])
    assert "edit_memory" not in wrong.text
    nothing = await client.post("/v1/memories/edit", {"project": "my-api", "id": old})
    expected = "expected something that differs from what the memory says"
    assert (nothing.status, nothing.json["details"]) == (400, [{"path": "$", "problem": expected}])
    assert (await client.get(f"/v1/memories/{old}")).json["title"] == "Zebras are stripped"


@with_client
async def test_a_memory_that_the_project_does_not_have_is_not_there(client: Client) -> None:
    old = (await client.post("/api/observations", OBSERVATION)).json["id"]
    await client.post("/api/observations", OBSERVATION | {"project": "other"})
    for changes in ({"project": "other"}, {"id": "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M1"}):
        asked = {"project": "my-api", "id": old, "title": "Zebras have stripes"} | changes
        assert (await client.post("/v1/memories/edit", asked)).status == 404
    assert (await client.get(f"/v1/memories/{old}")).json["title"] == "Zebras are stripped"
