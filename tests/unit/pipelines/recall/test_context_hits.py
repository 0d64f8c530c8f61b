"""The hits of each strategy for context blocks are counted, which shows a strategy that finds nothing any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import Entity, GraphItem
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import ContextStrategy
from kiro_learn.ports.storage.graph import GraphWalk, Reached
from kiro_learn.services.retrieval_log import MUTE_AFTER, ContextStatistics
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.pipelines.recall.test_context import KIRA, context, fact, preference, put
from tests.unit.services.in_daemon import in_daemon
from tests.unit.storage import contract_graph as graph

OTTO = graph.entity(3, "Otto", namespace=NAMESPACE)


def told(
    scenario: Callable[[Services], Awaitable[None]],
    *items: GraphItem,
    storage: InMemoryStorage | None = None,
    **parts: Any,
) -> None:
    """Store ``items`` before the daemon starts, so that they get their vectors at once."""
    kept = storage or InMemoryStorage()
    simulate(lambda: put(kept, *items))
    in_daemon(scenario, storage=kept, **parts)


async def counted(services: Services) -> ContextStatistics:
    return (await services.health.status()).recall.contexts


async def ask(services: Services, count: int, message: str = "Kira runs on Vercel?") -> ContextStatistics:
    await trio.sleep(1)  # until all items have vectors
    for number in range(count):
        await context(services, message, history_slot=80_000 + number)  # so that no answer comes from the cache
    return await counted(services)


def test_hits_are_counted_by_strategy() -> None:
    async def scenario(services: Services) -> None:
        assert (await counted(services)).made == 0
        await ask(services, 3)
        await context(services, "zebra")
        found = await counted(services)
        assert (found.made, found.partial, found.mute) == (4, 0, ())
        assert found.hits == {
            ContextStrategy.WORDS: 3,
            ContextStrategy.MEANING: 3,
            ContextStrategy.NAMES: 3,
            ContextStrategy.GRAPH: 3,
            ContextStrategy.PREFERENCES: 4,
        }
        assert found.shares[ContextStrategy.NAMES] == 0.75

    told(scenario, KIRA, fact(1, "Vercel"), preference(1))


def test_what_asks_for_nothing_and_what_is_answered_again_are_not_counted() -> None:
    async def scenario(services: Services) -> None:
        for message in ("", "ok thanks", "where does Kira run?", "where does Kira run?"):
            await context(services, message)
        assert (await counted(services)).made == 1

    told(scenario, KIRA, fact(1, "Vercel"))


def test_prompts_are_counted_where_the_graph_answers_them() -> None:
    async def scenario(services: Services) -> None:
        await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        assert (await counted(services)).hits[ContextStrategy.GRAPH] == 1

    told(scenario, KIRA, fact(1, "Vercel"), config=Config(recall=RecallConfig(pipeline="graph")))


class Nameless(InMemoryStorage):
    """A store that finds no entity by its name."""

    async def find_named_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        return []


class WithoutAWay(InMemoryStorage):
    """A store that cannot walk the graph."""

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        raise StorageBusy("another process holds the lock")


@pytest.mark.parametrize(
    ("storage", "strategy"), [(Nameless(), ContextStrategy.NAMES), (WithoutAWay(), ContextStrategy.GRAPH)]
)
def test_a_strategy_that_never_finds_what_is_there_is_mute(storage: InMemoryStorage, strategy: ContextStrategy) -> None:
    async def scenario(services: Services) -> None:
        assert (await ask(services, MUTE_AFTER - 1)).mute == ()
        assert (await ask(services, 1, "Kira runs on Vercel, then?")).mute == (strategy,)

    told(scenario, KIRA, fact(1, "Vercel"), storage=storage)


def test_parts_that_were_missing_are_counted() -> None:
    async def scenario(services: Services) -> None:
        assert (await ask(services, 2)).partial == 2

    told(scenario, KIRA, fact(1, "Vercel"), storage=WithoutAWay())


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((KIRA, fact(1, "Vercel")), "why is the kitchen closed"),
        ((OTTO,), "Otto"),
        ((), "where does Kira run"),
    ],
    ids=["names nothing", "an entity without facts", "no graph"],
)
def test_what_is_not_there_to_be_found_makes_no_strategy_mute(items: Any, message: str) -> None:
    async def scenario(services: Services) -> None:
        assert (await ask(services, MUTE_AFTER + 5, message)).mute == ()

    told(scenario, *items)
