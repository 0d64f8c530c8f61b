"""If any call of the store fails in any way, acknowledged events are still learned once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
import trio

from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import ActorStopped, StorageBusy
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.actors.patient import Patient, once_each

CONFIG = Config(learning=LearningConfig(extraction_bytes=100, buffer_idle_seconds=1.0, retry_seconds=0.5))


class Bug(Exception):
    """An exception that no code expects."""


class FaultyStorage(InMemoryStorage):
    """A store whose ``fatal``-th call raises an error."""

    def __init__(self, fatal: int, error: Callable[[], Exception]) -> None:
        super().__init__()
        self.asked_count = 0
        self._fatal = fatal
        self._error = error

    async def _pass(self, gate: trio.Event | None, errors: list[Exception]) -> None:
        await super()._pass(gate, errors)
        self.asked_count += 1
        if self.asked_count == self._fatal:
            raise self._error()


async def take_and_learn(storage: InMemoryStorage) -> None:
    """A short life of a daemon. Events that it could not take are sent again, as the spool drainer does."""
    async with simulated_daemon(storage=storage, llm=Patient(), config=CONFIG) as services:
        for number in range(6):
            await take_again_and_again(services, number)
            await trio.sleep(0.4)
        await trio.sleep(400)
    page = await storage.copied().list_memory_records(namespace=NAMESPACE, limit=100, offset=0)
    cited = Counter(event_id for record in page.items for event_id in record.source_event_ids)
    assert cited == once_each(range(6))


async def take_again_and_again(services: Services, number: int) -> None:
    for _ in range(3):
        try:
            await services.capture.take(an_event(number))
        except (StorageBusy, ActorStopped):
            await trio.sleep(0.1)
        else:
            return


@pytest.mark.parametrize("error", [partial(StorageBusy, "locked"), Bug])
def test_no_failure_of_the_store_at_any_call_loses_an_event(error: Callable[[], Exception]) -> None:
    """With an expected error, and with one that crashes the caller, at each call in turn."""
    call_count = fatal = 0
    while fatal <= call_count:
        fatal += 1
        storage = FaultyStorage(fatal, error)
        simulate(partial(take_and_learn, storage))
        call_count = storage.asked_count
    assert call_count > 30, "a life that is worth breaking"
