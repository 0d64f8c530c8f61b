"""Terms that a prompt had no time to look up are looked up for the next one."""

from __future__ import annotations

import trio

from kiro_learn.actors.index_upkeep import MOST_WAITING
from kiro_learn.errors import StorageBusy
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.retrieval.query.question import Query
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

PATIENCE_SECONDS = 0.4


class SlowWords(InMemoryStorage):
    """A store that takes ``seconds`` to look up a new query, and none for a known one."""

    def __init__(self, seconds: float, *, fails: bool = False) -> None:
        super().__init__()
        self._seconds = seconds
        self._fails = fails
        self.looked_up: list[str] = []

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        if params.query not in self.looked_up:
            await trio.sleep(self._seconds)
            if self._fails:
                raise StorageBusy("another process holds the lock")
            self.looked_up.append(params.query)
        return await super().rank_by_words(params)


async def find(services: Services, query: str) -> Findings:
    return await services.recall.finder.find(
        NAMESPACE,
        Query.of_text(query),
        limit=5,
        patience_seconds=PATIENCE_SECONDS,
        stopwatch=Stopwatch(),
    )


def degraded(storage: SlowWords, *queries: str) -> list[tuple[str, ...]]:
    """The degraded parts of the answer to each query, asked one after the other."""

    async def scenario() -> list[tuple[str, ...]]:
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(60)

            said = []
            for query in queries:
                said.append((await find(services, query)).degraded)
                await trio.sleep(60)
            return said

    return simulate(scenario)


def test_words_that_took_too_long_are_there_for_the_next_prompt() -> None:
    assert degraded(SlowWords(3.0), "parser", "parser") == [("words: late",), ()]


def test_what_came_in_time_is_not_looked_up_again() -> None:
    storage = SlowWords(0.1)
    assert degraded(storage, "parser") == [()]
    assert storage.looked_up == ["parser"]


def test_a_failing_store_ends_nothing() -> None:
    assert degraded(SlowWords(3.0, fails=True), "parser", "lexer") == [("words: late",)] * 2


def test_of_many_at_once_those_that_fit_are_looked_up() -> None:
    """One is under way, others wait, and the rest will be late again."""
    storage = SlowWords(600.0)
    queries = [f"word{number}" for number in range(2 * MOST_WAITING)]

    async def scenario() -> list[str]:
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(60)
            storage.looked_up.clear()
            for query in queries:
                await find(services, query)
            await trio.sleep(600 * len(queries))
            return storage.looked_up

    assert simulate(scenario) == queries[: 1 + MOST_WAITING]
