"""A damaged full-text index is reported; searches work without it, and it is rebuilt in the background."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

CONFIG = Config(embedding=EmbeddingConfig(enabled=False))
QUERY = "why does the token cache expire"


async def remember(services: Services) -> None:
    await services.remember.put(a_record(1, "The token cache expires early", "clock skew"))
    for number in range(2, 9):
        await services.remember.put(a_record(number, "Something else", "entirely"))


def test_it_is_said_found_around_and_rebuilt() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, config=CONFIG) as services:
            await remember(services)
            storage.damage_words(NAMESPACE)
            gate = storage.write_gate = trio.Event()
            told = await services.recall.answer(NAMESPACE, TextBody(QUERY))
            assert "token cache" in told.context
            assert told.degraded == (INDEX_DAMAGED,)
            found = await services.search.search(NAMESPACE, QUERY, limit=1, mode=SearchMode.LEXICAL)
            assert [record.record_id for record in found.records] == [a_record(1).record_id]
            assert found.degraded == (INDEX_DAMAGED,)
            assert (await services.health.status()).word_indexes.damaged == (NAMESPACE,)
            gate.set()
            await trio.sleep(1)
            status = (await services.health.status()).word_indexes
            assert (status.damaged, status.rebuilt_count, status.problem) == ((), 1, None)
            found = await services.search.search(NAMESPACE, QUERY, limit=1, mode=SearchMode.LEXICAL)
            assert found.degraded == ()

    simulate(scenario)


def test_a_rebuild_that_fails_is_shown_and_tried_again_later() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, config=CONFIG) as services:
            await remember(services)
            storage.damage_words(NAMESPACE)
            storage.fail_next_write(StorageBusy("locked"))
            for seconds, expected in ((1, "locked"), (1, "locked"), (40, "locked"), (1, None)):
                await services.search.search(NAMESPACE, QUERY, limit=1)
                await trio.sleep(seconds)
                assert (await services.health.status()).word_indexes.problem == expected
            assert (await services.health.status()).word_indexes.damaged == ()

    simulate(scenario)


@pytest.mark.parametrize("query", ["", "   ", "???", "?! -- ...", "🚀"])
def test_a_query_without_a_word_finds_nothing(query: str) -> None:
    async def scenario() -> None:
        async with simulated_daemon() as services:
            await remember(services)
            await trio.sleep(100)
            for mode in set(SearchMode) - {SearchMode.SYNTAX}:  # the query is no valid expression
                found = await services.search.search(NAMESPACE, query, limit=9, mode=mode)
                assert (found.records, found.degraded) == ((), ())
            assert (await services.recall.answer(NAMESPACE, TextBody(query or " "))).context == ""

    simulate(scenario)
