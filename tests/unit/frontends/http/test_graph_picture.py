"""The picture of what is remembered, and conflicts with the one call that settles each."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.model.graph import Evidence, Fact, SourceType, Validity
from kiro_learn.model.record import KnowledgeType
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.storage import put_record, transact_one
from tests.unit.frontends.http.asking import Client, with_client
from tests.unit.storage import contract_graph as graph
from tests.unit.storage.builders import at, event_id, record, record_id

SHOP = graph.entity(1, "shop", namespace=NAMESPACE)


def a_fact(number: int, predicate: str, object_: str, *, waits: bool) -> Fact:
    """A fact that the person stated, or a later candidate from a command that ran."""
    said_at = at(-10 if waits else -20)
    return graph.fact(
        number,
        SHOP,
        object_,
        predicate=predicate,
        source_type=SourceType.OBSERVED if waits else SourceType.STATED,
        is_candidate=waits,
        last_confirmed_at=said_at,
        validity=Validity(observed_at=said_at),
    )


HOLDS = a_fact(1, "listens_on_port", "8080", waits=False)
WAITS = a_fact(2, "listens_on_port", "9090", waits=True)
USES = a_fact(3, "uses", "Redis", waits=False)
AVOIDS = a_fact(4, "avoids", "Redis", waits=True)


async def put_facts(client: Client, *facts: Fact) -> None:
    evidence = [
        Evidence(each.item_id, event_id(number), each.last_confirmed_at, source_type=each.source_type)
        for number, each in enumerate(facts, 1)
    ]
    await transact_one(client.storage, lambda transaction: transaction.put_graph_items([SHOP, *facts]))
    await transact_one(client.storage, lambda transaction: transaction.put_graph_evidence(evidence))


async def put_rules(client: Client, *texts: str) -> None:
    for number, text in enumerate(texts, 1):
        rule = record(number, text, summary=text, namespace=NAMESPACE, knowledge_type=KnowledgeType.CONSTRAINT)
        await put_record(client.storage, rule)


async def conflicts(client: Client) -> list[Any]:
    found: list[Any] = (await client.get(f"/api/conflicts?project={NAMESPACE}")).json["items"]
    return found


async def settle(client: Client, keep: str, over: str) -> int:
    return (await client.post("/api/conflicts", {"project": NAMESPACE, "keep": keep, "over": over})).status


async def current(client: Client) -> set[str]:
    items = (await client.get(f"/api/graph?project={NAMESPACE}")).json["items"]
    return {f"{each['predicate']} {each['object']}" for each in items}


@with_client
async def test_a_picture_is_bounded_and_refuses_a_kind_that_it_does_not_know(client: Client) -> None:
    for number in range(1, 8):
        await put_record(client.storage, record(number, concepts=("auth", "token"), namespace=NAMESPACE))
    found = (await client.get("/api/graph/picture?limit=6")).json
    assert [node["kind"] for node in found["nodes"]] == ["concepts", "projects", *["memories"] * 4]
    assert (len(found["links"]), found["left_out"]) == (8, {"memories": 3, "concepts": 1})
    assert (await client.get("/api/graph/picture?show=memories,ghosts")).status == 400
    alone = (await client.get(f"/api/graph/picture?project={NAMESPACE}&show=memories,concepts")).json
    assert {node["kind"] for node in alone["nodes"]} == {"memories", "concepts"}
    assert all(link["says"] is None and link["count"] == 1 for link in alone["links"])


@pytest.mark.parametrize(
    ("keep", "over", "left"),
    [(HOLDS, WAITS, "listens_on_port 8080"), (WAITS, HOLDS, "listens_on_port 9090"), (USES, AVOIDS, "uses Redis"),
     (AVOIDS, USES, "avoids Redis")],
)  # fmt: skip  # a case a line
def test_of_two_facts_the_one_that_is_kept_holds_and_the_other_one_ended(keep: Fact, over: Fact, left: str) -> None:
    @with_client
    async def scenario(client: Client) -> None:
        await put_facts(client, keep, over)
        [found] = await conflicts(client)
        assert {side["id"] for side in found["sides"]} == {keep.item_id, over.item_id}
        assert [side["holds"] for side in found["sides"]] == [True, False]
        assert {side["source"] for side in found["sides"]} == {"stated", "observed"}
        assert all(side["event_id"] and side["at"] for side in found["sides"])
        assert await settle(client, keep.item_id, over.item_id) == 200
        assert await conflicts(client) == []
        assert await current(client) == {left}
        is_forgotten = (await client.get(f"/api/graph/item?project={NAMESPACE}&id={over.item_id}")).status == 404
        assert is_forgotten == over.is_candidate
        assert await settle(client, keep.item_id, over.item_id) == 409

    scenario()


@with_client
async def test_two_rules_that_want_another_tool_for_the_same_contradict_each_other(client: Client) -> None:
    await put_rules(client, "Always use npm here.", "Always use pnpm here.", "Always use uv for Python.")
    [found] = await conflicts(client)
    assert {side["text"] for side in found["sides"]} == {"Always use npm here.", "Always use pnpm here."}
    assert (await client.get("/api/conflicts")).json["items"] == [found]
    assert found["project"] == NAMESPACE


@with_client
async def test_of_two_rules_the_one_that_is_kept_takes_the_place_of_both_and_that_can_be_undone(client: Client) -> None:
    await put_rules(client, "Always use pnpm install.", "Never use pnpm install.", "Write short commits.")
    [found] = await conflicts(client)
    keep, over = (side["id"] for side in found["sides"])
    answer = await client.post("/api/conflicts", {"project": NAMESPACE, "keep": keep, "over": over})
    assert await conflicts(client) == []
    listed = (await client.get(f"/v1/memories?namespace={NAMESPACE}")).json["items"]
    assert len(listed) == 2
    [kept] = [each for each in listed if each["record_id"] != record_id(3)]
    assert answer.json == {"kept": kept["record_id"]}
    assert (await client.post(f"/v1/memories/{kept['record_id']}/undo")).status == 200
    assert len(await conflicts(client)) == 1
