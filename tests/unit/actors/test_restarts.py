"""A bug that crashes an actor costs only the message under way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from kiro_learn.model.event import TextBody
from kiro_learn.model.vectors import Matrix
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage


class Bug(Exception):
    """An exception that no code expects."""


class BuggyEmbedder(HashEmbedder):
    """An embedder whose first loads fail with an unexpected error, as does every text with a bad word."""

    def __init__(self, crashes: int) -> None:
        super().__init__()
        self._crashes = crashes

    async def load(self) -> None:
        await super().load()
        self._crashes -= 1
        if self._crashes >= 0:
            raise Bug

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if any("cursed" in text for text in texts):
            raise Bug
        return await super().embed(texts)


async def learned_and_embedded(storage: InMemoryStorage, model: HashEmbedder) -> tuple[int, int]:
    async with simulated_daemon(storage=storage, model=model) as services:
        await trio.sleep(1)
        await services.capture.take(an_event(1, namespace=NAMESPACE))
        await trio.sleep(100)
        counts = (await services.health.status()).embeddings
        return counts.total, counts.embedded


@pytest.mark.parametrize("crashes", range(1, 6))
def test_an_actor_that_reads_at_the_start_is_started_again(crashes: int) -> None:
    async def scenario() -> tuple[int, int]:
        storage = InMemoryStorage()
        for _ in range(crashes):
            storage.fail_next_read(Bug())
        return await learned_and_embedded(storage, HashEmbedder())

    assert simulate(scenario) == (1, 1)


def test_a_model_that_crashes_while_loading_is_loaded_again() -> None:
    async def scenario() -> tuple[int, int]:
        return await learned_and_embedded(InMemoryStorage(), BuggyEmbedder(crashes=2))

    assert simulate(scenario) == (1, 1)


def test_a_model_that_crashes_however_often_leaves_the_daemon_alive() -> None:
    async def scenario() -> tuple[int, int]:
        return await learned_and_embedded(InMemoryStorage(), BuggyEmbedder(crashes=1000))

    assert simulate(scenario) == (1, 0)


def test_texts_that_crash_the_model_cost_their_own_vectors_and_no_prompt_its_answer() -> None:
    async def scenario() -> list[tuple[str, ...]]:
        async with simulated_daemon(model=BuggyEmbedder(crashes=0)) as services:
            await trio.sleep(1)
            return [(await services.recall.answer(NAMESPACE, TextBody("cursed"))).degraded for _ in range(20)]

    assert simulate(scenario) == [("vectors: the embedding model failed: Bug",)] * 20
