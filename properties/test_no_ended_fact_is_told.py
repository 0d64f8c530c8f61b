"""Promise: whatever was said in whatever order, a context block tells the facts that hold, and no others."""

from __future__ import annotations

from typing import Any

import trio
from hypothesis import given

from kiro_learn.model.graph import Fact
from kiro_learn.pipelines.recall.context import ContextRequest
from kiro_learn.services.services import Services
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.testing.storing import transact_one
from properties.test_graph_order_of_batches import histories
from tests.unit.learning.graph.graphs import Graph
from tests.unit.services.in_daemon import in_daemon
from tests.unit.storage.builders import MINE

MESSAGE = "Kira lives in Rome, Oslo or Bern, and likes, uses or avoids what?"


async def told(services: Services, storage: InMemoryStorage, graph: Graph) -> set[str]:
    await transact_one(storage, lambda transaction: transaction.put_graph_items(list(graph.items.values())))
    await trio.sleep(1)  # until everything has its vector, so that it could be found by its meaning too
    found = await services.api.contexts.builder.build(MINE, ContextRequest(message=MESSAGE, most_tokens=100_000))
    assert found.degraded == ()
    return {item.item_id for item in found.items}


@given(histories())
def test_what_holds_is_told_and_nothing_else(history: tuple[list[Any], list[list[Any]]]) -> None:
    graph = Graph()
    for batch in history[1]:
        graph.learn(*batch)
    holding = {fact.item_id for fact in graph.all(Fact) if fact.is_current}

    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        facts = {item_id for item_id in await told(services, storage, graph) if item_id.startswith("fa_")}
        assert facts == holding

    in_daemon(scenario, storage=storage)
