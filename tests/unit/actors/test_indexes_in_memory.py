"""Indexes in memory are bounded in bytes, and an evicted one is read again."""

from __future__ import annotations

import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.ports.storage.answers import EmbeddingTable
from kiro_learn.retrieval.ranking.vector_index import expected_bytes
from kiro_learn.testing.daemon import a_record, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

NAMESPACES = [namespace_of("ada", letter * 64) for letter in "abcd"]
TWO = Config(embedding=EmbeddingConfig(index_bytes=2 * expected_bytes(2)))


class BusyOnce(InMemoryStorage):
    """A store whose next read of vectors fails if a test wants it."""

    is_busy = False

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        if self.is_busy:
            self.is_busy = False
            raise StorageBusy("locked")
        return await super().list_embeddings(namespace)


def test_the_namespace_that_was_idle_longest_makes_room() -> None:
    async def scenario() -> list[list[str]]:
        async with simulated_daemon(config=TWO) as services:
            await trio.sleep(1)
            kept = []
            for place in (0, 1, 0, 2, 3):
                await services.search.search(NAMESPACES[place], "zebras", limit=1)
                kept.append(list((await services.health.status()).indexes))
            return kept

    a, b, c, d = map(str, NAMESPACES)
    assert simulate(scenario) == [[a], [a, b], [b, a], [a, c], [c, d]]


def test_what_was_let_go_of_is_found_again_with_what_came_meanwhile() -> None:
    async def scenario() -> list[str]:
        async with simulated_daemon(config=TWO) as services:
            await services.remember.put(a_record(1, "Zebras", namespace=NAMESPACES[0]))
            await trio.sleep(1)
            for namespace in NAMESPACES:
                await services.search.search(namespace, "zebras", limit=1)
            await services.remember.put(a_record(2, "Zebras", namespace=NAMESPACES[0]))
            await trio.sleep(1)
            found = await services.search.search(NAMESPACES[0], "zebras", limit=9, mode=SearchMode.SEMANTIC)
            return [record.record_id for record in found.records]

    assert sorted(simulate(scenario)) == [a_record(1).record_id, a_record(2).record_id]


def test_an_index_that_could_not_be_read_is_read_for_the_next_prompt() -> None:
    storage = BusyOnce()

    async def scenario() -> list[tuple[str, ...]]:
        async with simulated_daemon(storage=storage, config=TWO) as services:
            await services.remember.put(a_record(1, "Zebras", namespace=NAMESPACES[0]))
            await trio.sleep(1)
            for namespace in NAMESPACES[1:]:
                await services.search.search(namespace, "zebras", limit=1)
            storage.is_busy = True
            return [(await services.recall.answer(NAMESPACES[0], TextBody("zebras"))).degraded for _ in range(2)]

    assert simulate(scenario) == [("vectors: locked",), ()]


class SlowStorage(InMemoryStorage):
    """A store in which reading vectors takes two seconds: longer than any prompt waits."""

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        await trio.sleep(2)
        return await super().list_embeddings(namespace)


def test_an_index_that_takes_longer_to_read_than_a_prompt_waits_is_there_for_a_later_one() -> None:
    storage = SlowStorage()

    async def scenario() -> list[tuple[str, ...]]:
        async with simulated_daemon(storage=storage, config=TWO) as services:
            await services.remember.put(a_record(1, "Zebras", namespace=NAMESPACES[0]))
            told = []
            for _ in range(5):
                told.append((await services.recall.answer(NAMESPACES[0], TextBody("zebras"))).degraded)
                await trio.sleep(0.3)
            return told

    assert simulate(scenario) == [("vectors: late",)] * 3 + [(), ()]


def test_the_index_of_the_project_in_use_stays_however_large_it_is() -> None:
    async def scenario() -> dict[str, int]:
        async with simulated_daemon(config=Config(embedding=EmbeddingConfig(index_bytes=1_000))) as services:
            await services.remember.put(a_record(1, "Zebras", namespace=NAMESPACES[0]))
            await trio.sleep(1)
            await services.search.search(NAMESPACES[0], "zebras", limit=1)
            return (await services.health.status()).indexes

    assert simulate(scenario) == {str(NAMESPACES[0]): 1}
