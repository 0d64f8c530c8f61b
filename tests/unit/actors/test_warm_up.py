"""The first prompt after a start finds its index in memory."""

from __future__ import annotations

import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.model.namespace import namespace_of
from kiro_learn.retrieval.ranking.vector_index import expected_bytes
from kiro_learn.testing.household import an_event, simulated_household
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

NAMESPACES = [namespace_of("ada", letter * 64) for letter in "abc"]


async def storage_with_three_projects() -> InMemoryStorage:
    storage = InMemoryStorage()
    async with simulated_household(storage=storage) as desk:
        for number, namespace in enumerate(NAMESPACES):
            await desk.capture.take(an_event(number, namespace=namespace))
        await trio.sleep(60)
    return storage


def test_the_projects_used_last_are_read_before_anybody_asks() -> None:
    async def scenario() -> dict[str, int]:
        storage = await storage_with_three_projects()
        config = Config(embedding=EmbeddingConfig(index_bytes=2 * expected_bytes(1)))
        async with simulated_household(storage=storage, config=config) as desk:
            await trio.sleep(1)
            return (await desk.health.status()).indexes

    assert simulate(scenario) == dict.fromkeys(map(str, NAMESPACES[1:]), 1)
