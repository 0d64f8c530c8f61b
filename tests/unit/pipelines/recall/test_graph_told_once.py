"""If the graph answers prompts, a session is told each item once, and again only if the item has changed."""

from __future__ import annotations

import json
from typing import Any

import attrs
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import EntityType, Fact, GraphItem, GraphKind, Validity
from kiro_learn.model.ids import EventId
from kiro_learn.pipelines.recall.recall_trace import NOTHING_ASKED, NOTHING_NEW
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, FixedProjects, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.pipelines.recall.test_context import now, preference, put, told
from tests.unit.services.in_daemon import transact_in_daemon
from tests.unit.storage import contract_graph as graph

SHOP = graph.entity(1, "shop", namespace=NAMESPACE, type=EntityType.PROJECT, description="sells shoes")
PORT: Fact = graph.fact(1, SHOP, "9090", predicate="listens_on_port", last_confirmed_at=now())
WISH = preference(1)
RELEASE = graph.procedure(1, namespace=NAMESPACE, name="Release shop", confidence=0.8)
THINGS = (SHOP, PORT, WISH, RELEASE)
FOLDER = "/home/ada/shop"
IDS = {item.item_id for item in THINGS}


def config(**values: Any) -> Config:
    return Config(recall=RecallConfig(prompts="all", pipeline="graph", **values))


async def ask(
    services: Services, text: str = "how do we release shop?", session: str | None = "s", event: str | None = None
) -> set[str]:
    """The ids of the items that are told."""
    event_id = None if event is None else EventId(event)
    answer = await services.recall.answer(NAMESPACE, TextBody(text), session_id=session, event_id=event_id)
    assert answer.degraded == ()
    assert bool(answer.context) == bool(answer.told_ids)
    return {*answer.told_ids}


async def change(services: Services, *items: GraphItem) -> None:
    await transact_in_daemon(services, lambda transaction: transaction.put_graph_items(items))


def test_a_session_is_told_each_item_once() -> None:
    async def scenario(services: Services) -> None:
        assert await ask(services) == IDS
        assert await ask(services) == set()
        assert await ask(services, "where does shop listen?") == set()
        assert await ask(services, session="t") == IDS
        for _ in range(2):
            assert await ask(services, session=None) == IDS

    told(scenario, *THINGS, config=config())


def test_the_log_says_why_there_was_nothing_to_tell() -> None:
    async def scenario(services: Services) -> None:
        await ask(services)
        await ask(services)
        await ask(services, "zebra")
        reports = services.retrievals.latest(namespace=None, limit=3)[::-1]
        assert [each.silent_because for each in reports] == [None, NOTHING_NEW, NOTHING_NEW]
        assert [each.left_out.get("told_before", 0) for each in reports] == [0, 4, 1], (
            "the preference suits every prompt"
        )
        await ask(services, "zebra", session="t")
        await ask(services, "ok thanks", session="t")
        assert services.retrievals.latest(namespace=None, limit=1)[0].silent_because == NOTHING_ASKED

    told(scenario, *THINGS, config=config())


def test_an_event_that_is_sent_again_is_answered_again() -> None:
    async def scenario(services: Services) -> None:
        assert await ask(services, event="e") == await ask(services, event="e") == IDS
        assert await ask(services, event="f") == set()

    told(scenario, *THINGS, config=config())


def test_a_context_that_was_compacted_may_be_told_all_again() -> None:
    storage = InMemoryStorage()
    start = {"hook_event_name": "SessionStart", "source": "compact", "session_id": "s", "cwd": FOLDER}

    async def scenario() -> None:
        namespace = (await FixedProjects().project_of(FOLDER)).namespace
        await put(storage, *(attrs.evolve(item, namespace=namespace) for item in THINGS))
        async with simulated_daemon(storage=storage, config=config()) as services:
            for count in (4, 0):
                answer = await services.recall.answer(namespace, TextBody("release shop"), session_id="s")
                assert len(answer.told_ids) == count
            await services.hooks.take("claude-code", json.dumps(start).encode(), {}, retrieve=True)
            assert (
                len((await services.recall.answer(namespace, TextBody("release shop"), session_id="s")).told_ids) == 4
            )

    simulate(scenario)


def test_after_some_prompts_it_may_be_told_again() -> None:
    async def scenario(services: Services) -> None:
        assert [len(await ask(services)) for _ in range(4)] == [4, 0, 4, 0]

    told(scenario, *THINGS, config=config(repeat_after_prompts=1))


def test_of_prompts_at_once_one_is_told() -> None:
    answers: list[set[str]] = []

    async def one(services: Services) -> None:
        answers.append(await ask(services))

    async def scenario(services: Services) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(one, services)
        assert sorted(map(len, answers)) == [0, 0, 4]

    told(scenario, *THINGS, config=config())


def test_what_was_not_sent_after_all_may_be_told_again() -> None:
    async def scenario(services: Services) -> None:
        answer = await services.recall.answer(NAMESPACE, TextBody("how do we release shop?"), session_id="s")
        services.recall.take_back(NAMESPACE, "s", answer)
        assert await ask(services) == IDS

    told(scenario, *THINGS, config=config())


def test_a_restart_forgets_nothing_but_what_changed() -> None:
    storage = InMemoryStorage()

    async def scenario() -> None:
        await put(storage, *THINGS)
        async with simulated_daemon(storage=storage, config=config()) as services:
            assert await ask(services) == IDS
            await trio.sleep(1)
            await change(services, attrs.evolve(SHOP, description="sells hats"))
            await trio.sleep(1)
        async with simulated_daemon(storage=storage, config=config()) as services:
            assert await ask(services) == {SHOP.item_id}

    simulate(scenario)


def test_what_says_something_else_now_is_told_again() -> None:
    async def scenario(services: Services) -> None:
        await ask(services)
        await change(services, attrs.evolve(PORT, confidence=0.5), attrs.evolve(SHOP, mention_count=7))
        assert await ask(services) == set()
        await change(services, attrs.evolve(SHOP, description="sells hats"), attrs.evolve(WISH, value="emacs"))
        assert await ask(services) == {SHOP.item_id, WISH.item_id}
        ended = attrs.evolve(PORT, validity=Validity(observed_at=now(), valid_until=now()))
        await change(services, ended)
        assert await ask(services, "which port was shop on previously?") == {PORT.item_id}
        assert await ask(services, "which port was shop on previously?") == set()

    told(scenario, *THINGS, config=config())


def test_a_fact_is_told_again_with_a_candidate_that_is_new() -> None:
    other: Fact = attrs.evolve(PORT, item_id=graph.item_id(GraphKind.FACT, 2), object="8080", is_candidate=True)

    async def scenario(services: Services) -> None:
        await ask(services, "which port is shop on?")
        await change(services, other)
        assert await ask(services, "which port is shop on?") == {PORT.item_id, other.item_id}
        assert await ask(services, "which port is shop on?") == set()
        await change(services, attrs.evolve(PORT, is_candidate=True), attrs.evolve(other, is_candidate=False))
        assert await ask(services, "which port is shop on?") == {PORT.item_id, other.item_id}

    told(scenario, *THINGS, config=config())
