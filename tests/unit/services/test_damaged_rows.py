"""A row that cannot be read affects no other row; it is named where it is missing, and the status counts it."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import StorageCorrupt, UnknownRecord
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, put_record

QUERY = "why does the token cache expire early"
BROKEN = a_record(2).record_id


RECORDS = [a_record(number, "The token cache expires early", f"clock skew, case {number}") for number in (1, 2, 3)]


async def remember(services: Services) -> None:
    for record in RECORDS:
        await services.remember.put(record)


def test_a_damaged_memory_is_named_and_the_others_are_told() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        for record in RECORDS:
            await put_record(storage, record)
        storage.damage_row(BROKEN)
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(100)
            found = await services.search.search(NAMESPACE, QUERY, limit=9)
            assert {record.record_id for record in found.records} == {a_record(1).record_id, a_record(3).record_id}
            assert BROKEN not in {record.record_id for record in found.records}
            told = await services.recall.answer(NAMESPACE, TextBody(QUERY))
            assert set(told.record_ids) == {a_record(1).record_id, a_record(3).record_id}
            page = await services.queries.records(namespace=NAMESPACE, limit=9, offset=0)
            assert (len(page.items), page.damaged, page.total) == (2, (BROKEN,), 3)
            damaged = (await services.health.status()).damaged
            assert (damaged.count, damaged.rows) == (1, (BROKEN,))
            counts = await storage.count_embeddings(None)
            assert counts.embedded == 2, "the backfill has gone on"

    simulate(scenario)


def test_a_memory_that_is_damaged_after_it_was_indexed_is_named_by_searches() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await remember(services)
            await trio.sleep(100)
            storage.damage_row(BROKEN)
            found = await services.search.search(NAMESPACE, QUERY, limit=9)
            assert found.damaged == (BROKEN,)
            told = await services.recall.answer(NAMESPACE, TextBody(QUERY))
            assert told.degraded == (f"records: the row of {BROKEN} is damaged",)
            assert len(told.record_ids) == 2
            with pytest.raises(StorageCorrupt, match=BROKEN):
                await services.queries.record(BROKEN)
            with pytest.raises(UnknownRecord):
                await services.queries.record(RecordId("mr_none"))

    simulate(scenario)


@pytest.mark.parametrize("broken", [[2], [1], [3], [1, 2, 3]])
def test_a_flush_learns_what_can_be_read_and_ends(broken: list[int]) -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        config = Config(learning=LearningConfig(buffer_idle_seconds=3600))
        async with simulated_daemon(storage=storage, config=config) as services:
            for number in (1, 2, 3):
                await services.capture.take(an_event(number))
            for number in broken:
                storage.damage_row(an_event(number).event_id)
            with trio.fail_after(60):
                done = await services.learn.flush(NAMESPACE.split("/")[4])
            assert done.record_count == 3 - len(broken)
            assert (await services.health.status()).waiting.event_count == 0
            page = await services.queries.events(namespace=None, limit=9, cursor=None)
            assert page.total == 3
            assert set(page.damaged) == {an_event(number).event_id for number in broken}

    simulate(scenario)
