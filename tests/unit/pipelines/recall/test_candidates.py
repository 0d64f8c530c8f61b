"""A weaker source's claim against a fact is shown, marked, with the fact if it is asked for; never alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kiro_learn.errors import StorageBusy
from kiro_learn.model.graph import Entity, EntityType, Evidence, Fact, GraphItem, Says, SourceType, Validity
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.pipelines.recall.test_context import context, now, told
from tests.unit.storage import contract_graph as graph

SHOP = graph.entity(1, "shop", namespace=NAMESPACE, type=EntityType.PROJECT)


def fact(number: int, object_: str, about: Entity = SHOP, **values: Any) -> Fact:
    defaults = {"predicate": "listens_on_port", "last_confirmed_at": now(), "confidence": 0.9}
    made: Fact = graph.fact(number, about, object_, **defaults | values)
    return made


def candidate(number: int, object_: str, **values: Any) -> Fact:
    return fact(number, object_, is_candidate=True, source_type=SourceType.OBSERVED, **{"confidence": 0.5} | values)


PORTS = (SHOP, fact(1, "9090"), candidate(2, "8080"))
BOTH = """\
### Known Context
- shop listens on port 9090 (confidence: 0.9)
- possibly: shop listens on port 8080 (seen once)"""
ONE = """\
### Known Context
- shop listens on port 9090 (confidence: 0.9)"""


async def seen(storage: InMemoryStorage, item: GraphItem, times: int, says: Says = Says.HOLDS) -> None:
    rows = [
        Evidence(item.item_id, EventId(f"{number:026}"), now(), says=says, source_type=SourceType.OBSERVED)
        for number in range(times)
    ]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(rows))


@pytest.mark.parametrize(
    "message",
    [
        "which port does shop listen on?",
        "where does shop live?",
        "what is the status of shop now",
        "what was shop like previously?",
        "tell me about the port of shop",
        "so which port was it?",
    ],
)
def test_it_is_told_beside_the_better_fact_where_that_is_asked_for(message: str) -> None:
    async def scenario(services: Services) -> None:
        assert (await context(services, message)).text == BOTH

    told(scenario, *PORTS)


@pytest.mark.parametrize("message", ["deploy shop", "change the port of shop", "shop is slow", "and shop, too"])
def test_it_is_not_told_for_a_task_or_where_nothing_is_asked(message: str) -> None:
    async def scenario(services: Services) -> None:
        assert (await context(services, message)).text == ONE

    told(scenario, *PORTS)


@pytest.mark.parametrize(("times", "said"), [(1, "once"), (2, "twice"), (4, "4 times")])
def test_it_says_how_often_it_was_seen(times: int, said: str) -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        await seen(storage, PORTS[2], times)
        assert (await context(services, "which port does shop listen on?")).text.endswith(f"8080 (seen {said})")

    told(scenario, *PORTS, storage=storage)


def test_with_a_candidate_that_was_not_told_its_fact_is_told_again() -> None:
    async def scenario(services: Services) -> None:
        question, ids = "which port does shop listen on?", frozenset(each.item_id for each in PORTS)
        assert (await context(services, question, told=ids - {PORTS[2].item_id})).text == BOTH
        assert (await context(services, question, told=ids)).text == ""

    told(scenario, *PORTS)


def test_a_candidate_alone_is_not_told() -> None:
    ended = fact(1, "9090", validity=Validity(observed_at=now(), valid_until=now()))

    async def scenario(services: Services) -> None:
        found = await context(services, "which port did shop listen on previously?")
        assert "9090 (confidence: 0.9, until 2026-01-05)" in found.text
        assert "8080" not in found.text

    told(scenario, SHOP, ended, candidate(2, "8080"), fact(3, "Redis", predicate="uses"))


def test_it_stands_beside_a_fact_that_says_the_opposite() -> None:
    avoids = fact(1, "Docker", predicate="avoids")
    uses = candidate(2, "docker", predicate="uses")

    async def scenario(services: Services) -> None:
        found = (await context(services, "does shop use Docker?")).text
        assert found.splitlines()[1:] == [
            "- shop avoids Docker (confidence: 0.9)",
            "- possibly: shop uses docker (seen once)",
            "- shop uses Redis (confidence: 0.8)",
        ]

    told(scenario, SHOP, avoids, uses, fact(3, "Redis", predicate="uses", confidence=0.8))


def test_it_takes_no_room_from_what_holds() -> None:
    async def scenario(services: Services) -> None:
        question = "which port does shop listen on?"
        both = await context(services, question)
        just_enough = await context(services, question, most_tokens=both.tokens)
        assert just_enough.text == BOTH
        tight = await context(services, question, most_tokens=both.tokens - 1)
        assert (tight.text, tight.tokens <= tight.budget) == (ONE, True)
        assert (await context(services, question, most_bytes=len(BOTH.encode()))).text == BOTH
        assert (await context(services, question, most_bytes=len(BOTH.encode()) - 1)).text == ONE

    told(scenario, *PORTS)


def test_as_of_a_date_only_what_was_seen_by_then_is_told() -> None:
    long_ago = now() - timedelta(days=300)
    holds = fact(1, "9090", validity=Validity(observed_at=long_ago))
    late = candidate(2, "8080", validity=Validity(observed_at=now() - timedelta(days=2)))

    async def scenario(services: Services) -> None:
        assert "8080" not in (await context(services, "which port was it as of 2025-12-01?")).text
        assert "8080 (seen once)" in (await context(services, "which port was it as of 2026-01-04?")).text

    told(scenario, SHOP, holds, late)


def test_one_that_faded_was_told_or_turned_out_to_be_false_is_not_told() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services, "which port does shop listen on?", told=frozenset({PORTS[2].item_id}))
        assert found.text == ONE

    faded = candidate(3, "3000", last_confirmed_at=now() - timedelta(days=2_000))
    false = candidate(4, "4000", validity=Validity(observed_at=now(), retired_at=now()))
    told(scenario, *PORTS, faded, false)


def test_the_surest_are_told_and_no_more_than_a_few() -> None:
    async def scenario(services: Services) -> None:
        found = (await context(services, "which port does shop listen on?")).text
        assert [line for line in found.splitlines() if "possibly" in line] == [
            f"- possibly: shop listens on port {port} (seen once)" for port in (8005, 8004, 8003)
        ]

    others = (candidate(number + 2, f"{8000 + number}", confidence=number / 10) for number in range(2, 6))
    told(scenario, SHOP, fact(1, "9090"), *others)


class Unlisted(InMemoryStorage):
    """A store that cannot list candidates."""

    async def list_candidate_facts(self, namespace: Namespace, about: Any, *, limit: int) -> list[Fact]:
        raise StorageBusy("another process holds the lock")


def test_where_they_cannot_be_read_the_rest_is_told() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services, "which port does shop listen on?")
        assert found.text == ONE
        assert [each for each in found.degraded if each.startswith("candidates")]

    told(scenario, *PORTS, storage=Unlisted())
