"""A person's question is answered by one request, with the place, score and rankings of each memory."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.model.namespace import namespace_of
from kiro_learn.testing.daemon import NAMESPACE, FixedProjects
from tests.unit.frontends.http.asking import Client, a_record, with_client

OTHER = namespace_of("ada", "b" * 64)


async def remember(client: Client, *records: dict[str, Any]) -> None:
    for record in records:
        assert (await client.post("/v1/memories", record)).status == 200
    await client.services.learn.backfill()


@with_client
async def test_a_hit_says_its_place_its_score_and_what_found_it(client: Client) -> None:
    await remember(client, a_record(1), a_record(2, title="A zebra crossing", facts=["a zebra, a zebra, a zebra"]))
    found = (await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra crossing")).json
    first, second = found["hits"]
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["score"] > second["score"] > 0
    assert first["memory"]["title"] == "A zebra crossing"
    assert "words" in first["found_by"]
    assert found["memory_count"] == 2
    assert found["degraded"] == found["damaged"] == []


@with_client
async def test_what_found_a_memory_follows_the_mode(client: Client) -> None:
    await remember(client, a_record(1))
    for mode, found_by in (("lexical", ["words"]), ("semantic", ["meaning"]), ("hybrid", ["words", "meaning"])):
        found = (await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra&mode={mode}")).json
        assert [hit["found_by"] for hit in found["hits"]] == [found_by]


@with_client
async def test_the_parts_of_a_score_are_its_sum_in_every_mode(client: Client) -> None:
    await remember(
        client, *(a_record(number, title=f"zebra {number}", summary="stripes " * number) for number in range(1, 6))
    )
    for mode in ("hybrid", "lexical", "semantic", "syntax"):
        hits = (await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra stripes&mode={mode}")).json["hits"]
        assert len(hits) == 5
        for hit in hits:
            assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-3), (mode, hit["parts"])
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


@with_client
async def test_filters_leave_the_order_and_the_scores_of_every_mode_as_they_are(client: Client) -> None:
    records = [
        a_record(number, title=f"zebra {number}", summary="stripes " * number, concepts=["odd"] if number % 2 else [])
        for number in range(1, 8)
    ]
    await remember(client, *records)
    for mode in ("hybrid", "lexical", "semantic", "syntax"):
        path = f"/v1/search?namespace={NAMESPACE}&query=zebra stripes&mode={mode}"
        everything = (await client.get(path)).json["hits"]
        odd = (await client.get(f"{path}&concept=odd&limit=3")).json["hits"]
        expected = [hit for hit in everything if hit["memory"]["concepts"] == ["odd"]][:3]
        assert [(hit["memory"], hit["score"], hit["parts"]) for hit in odd] == [
            (hit["memory"], hit["score"], hit["parts"]) for hit in expected
        ], mode


@with_client
async def test_an_expression_that_does_not_parse_says_where(client: Client) -> None:
    reply = await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra AND (&mode=syntax")
    assert (reply.status, reply.json["details"][0]["path"], reply.json["details"][0]["position"]) == (400, "query", 11)
    assert "mode=lexical" in reply.json["hint"]


@with_client
async def test_a_question_about_nothing_that_is_remembered_is_told_so(client: Client) -> None:
    await remember(client, a_record(1))
    found = (await client.get(f"/v1/search?namespace={NAMESPACE}&query=xyzzy plugh")).json
    assert found["nothing_near"] is True
    assert "nothing_near" not in (await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra")).json


@with_client
async def test_it_lists_what_the_other_route_lists(client: Client) -> None:
    await remember(client, *(a_record(number) for number in range(5)))
    listed = (await client.get(f"/v1/memories/search?namespace={NAMESPACE}&query=zebra&limit=3")).json
    found = (await client.get(f"/v1/search?namespace={NAMESPACE}&query=zebra&limit=3")).json
    assert [hit["memory"] for hit in found["hits"]] == listed


@with_client
async def test_a_folder_is_its_project_and_others_are_only_counted(client: Client) -> None:
    project = await FixedProjects().project_of("/shop")
    await remember(client, a_record(1, namespace=project.namespace), a_record(2), a_record(3, namespace=OTHER))
    found = (await client.get("/v1/search?cwd=/shop&query=zebra")).json
    assert [hit["memory"]["record_id"] for hit in found["hits"]] == [a_record(1)["record_id"]]
    assert found["project"]["namespace"] == project.namespace
    assert (found["elsewhere_count"], found["memory_count"]) == (2, 1)
    assert (await client.get("/v1/search?cwd=/shop&query=zebra&limit=1")).json["elsewhere_count"] == 1


@with_client
async def test_a_folder_of_which_nothing_is_known_finds_nothing_and_has_a_name(client: Client) -> None:
    found = (await client.get("/v1/search?cwd=/nowhere/yet&query=zebra")).json
    assert (found["hits"], found["memory_count"]) == ([], 0)
    assert found["project"]["display_name"] == "/nowhere/yet"


@with_client
async def test_everywhere_is_the_best_of_each_project_first(client: Client) -> None:
    await remember(client, a_record(1), a_record(2), a_record(3, namespace=OTHER), a_record(4, namespace=OTHER))
    found = (await client.get("/v1/search?query=zebra&limit=3")).json
    assert found["project"] is None
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert {hit["memory"]["namespace"] for hit in found["hits"][:2]} == {NAMESPACE, OTHER}
    assert found["memory_count"] == 4


@with_client
async def test_a_relative_folder_and_no_question_are_refused(client: Client) -> None:
    assert (await client.get("/v1/search?cwd=x&query=zebra")).json["error"] == "cwd must be an absolute path"
    assert (await client.get("/v1/search?cwd=/x")).json["error"] == "query parameter is required"
