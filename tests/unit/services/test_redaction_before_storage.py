"""Private text is removed before it reaches the store, by whichever way it came in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from kiro_learn.model.event import TextBody
from kiro_learn.ports.storage.answers import Outcome
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.wire.messages import write_event

PRIVATE = "correct horse battery"
TEXT = f"the staging password is <private>{PRIVATE}</private>"
EVENT = an_event(1, text=TEXT)
RECORD = attrs.evolve(a_record(1, "staging", TEXT), facts=(TEXT,))


class Listening:
    """A transaction that notes the arguments it is given."""

    def __init__(self, transaction: StorageTransaction, handed: list[object]) -> None:
        self._transaction = transaction
        self._handed = handed

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._transaction, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._handed += [*arguments, *named.values()]
            return method(*arguments, **named)

        return call

    def attempt(self, work: Work[Any]) -> Any:
        return self._transaction.attempt(lambda inner: work(Listening(inner, self._handed)))


class ListeningStorage(InMemoryStorage):
    def __init__(self) -> None:
        super().__init__()
        self.handed: list[object] = []

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        def listening(work: Work[Any]) -> Work[Any]:
            return lambda transaction: work(Listening(transaction, self.handed))

        return await super().transact([listening(work) for work in works])


async def one_event(services: Services) -> None:
    await services.capture.take(EVENT)


async def several_events(services: Services) -> None:
    await services.capture.take_all([EVENT])


async def events_as_lines(services: Services) -> None:
    await services.capture.take_lines([json.dumps(write_event(EVENT)).encode()], most_bytes=10_000)


async def a_hook(services: Services) -> None:
    payload = {"hook_event_name": "userPromptSubmit", "cwd": "/home/ada/shop", "prompt": TEXT, "session_id": "s"}
    await services.hooks.take("kiro-cli", json.dumps(payload).encode(), {}, retrieve=True)


async def one_record(services: Services) -> None:
    await services.remember.put(RECORD)


async def several_records(services: Services) -> None:
    await services.remember.put_all([RECORD])


@pytest.mark.parametrize("way", [one_event, several_events, events_as_lines, a_hook, one_record, several_records])
def test_the_store_is_handed_nothing_private(way: Any) -> None:
    async def scenario() -> list[object]:
        storage = ListeningStorage()
        async with simulated_daemon(storage=storage) as services:
            await way(services)
        return storage.handed

    handed = repr(simulate(scenario))
    assert "the staging password is" in handed
    assert PRIVATE not in handed


def test_the_sample_is_private() -> None:
    assert isinstance(EVENT.body, TextBody)
    assert PRIVATE in EVENT.body.content
