"""The first prompt after a start finds its index in memory."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.retrieval.ranking.vector_index import expected_bytes
from kiro_learn.testing.daemon import an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

NAMESPACES = [namespace_of("ada", letter * 64) for letter in "abcd"]


async def fill_four_projects(storage: InMemoryStorage) -> None:
    async with simulated_daemon(storage=storage) as services:
        for number, namespace in enumerate(NAMESPACES):
            await services.capture.take(an_event(number, namespace=namespace))
        await trio.sleep(60)


def test_the_projects_used_last_are_read_before_the_first_prompt() -> None:
    async def scenario() -> dict[str, int]:
        storage = InMemoryStorage()
        await fill_four_projects(storage)
        config = Config(embedding=EmbeddingConfig(index_bytes=3 * expected_bytes(1)))
        async with simulated_daemon(storage=storage, config=config) as services:
            await trio.sleep(1)
            return (await services.health.status()).indexes

    assert simulate(scenario) == dict.fromkeys(map(str, NAMESPACES[1:]), 1)


class ListeningStorage(InMemoryStorage):
    """A store that notes queries and their projects."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []
        self.asked: list[Namespace] = []

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        self.queries.append(params.query)
        self.asked.append(params.namespace)
        return await super().rank_by_words(params)


def test_words_are_looked_up_in_the_projects_used_last() -> None:
    """In other projects, only the lengths of the memories are read."""

    async def scenario() -> list[Namespace]:
        storage = ListeningStorage()
        await fill_four_projects(storage)
        storage.asked.clear()
        async with simulated_daemon(storage=storage):
            await trio.sleep(1)
        return storage.asked

    asked = simulate(scenario)
    assert [asked.count(namespace) for namespace in NAMESPACES] == [1, 2, 2, 2]


def queries_after_a_restart(texts: Sequence[str]) -> list[str]:
    """The queries at a start after prompts of ``texts``, each followed by a tool's output."""

    async def scenario() -> list[str]:
        storage = ListeningStorage()
        async with simulated_daemon(storage=storage) as services:
            for number, text in enumerate(texts):
                await services.capture.take(an_event(2 * number, text=text))
                await services.capture.take(an_event(2 * number + 1, text="an answer", kind=EventKind.TOOL_USE))
            await trio.sleep(60)
            storage.queries.clear()
        async with simulated_daemon(storage=storage):
            await trio.sleep(1)
        return storage.queries

    queries: list[str] = simulate(scenario)
    return queries


def test_the_words_of_the_last_prompts_are_looked_up_before_the_first_prompt() -> None:
    queries = queries_after_a_restart([f"question {number}" for number in range(110)])
    assert queries[0] == "warm up"
    assert queries[1:101] == [f"question {number}" for number in range(109, 9, -1)]


def test_of_a_long_prompt_the_words_of_its_beginning_are_looked_up() -> None:
    """A question of some length is looked up to its end, but not text that was pasted far below it."""
    question = "why does the parser drop tokens " * 28 + "lastword"
    (asked,) = [query for query in queries_after_a_restart([question + " filler" * 100 + " pasted"]) if "why" in query]
    assert "lastword" in asked
    assert "pasted" not in asked


def test_the_commonest_words_of_the_memories_are_looked_up_before_the_first_prompt() -> None:
    """They are words of the event and its lesson, by the scripted learner."""
    *_, last = queries_after_a_restart(["the parser drops a token"] * 60)
    assert {"event", "taught"} <= set(last.split())
