"""Features of ``InMemoryStorage`` beyond the contract: it is late, or fails, on demand."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, put_event
from tests.unit.storage.builders import event, event_id


def test_reads_wait_for_their_gate_and_writes_do_not() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        storage.read_gate = trio.Event()
        await put_event(storage, event(1))
        with trio.move_on_after(60) as patience:
            await storage.get_event_by_id(event_id(1))
        assert patience.cancelled_caught
        storage.read_gate.set()
        assert await storage.get_event_by_id(event_id(1)) == event(1)

    simulate(scenario)


def test_a_write_that_is_cancelled_at_its_gate_changes_nothing() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        storage.write_gate = trio.Event()
        with trio.move_on_after(60):
            await put_event(storage, event(1))
        storage.write_gate = None
        assert await storage.get_event_by_id(event_id(1)) is None

    simulate(scenario)


def test_an_error_that_was_ordered_comes_once_and_changes_nothing() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        storage.fail_next_write(StorageBusy("ordered"))
        with pytest.raises(StorageBusy):
            await put_event(storage, event(1))
        assert await storage.get_event_by_id(event_id(1)) is None
        assert await put_event(storage, event(1))
        storage.fail_next_read(StorageBusy("ordered"))
        with pytest.raises(StorageBusy):
            await storage.get_event_by_id(event_id(1))
        assert await storage.get_event_by_id(event_id(1)) == event(1)

    simulate(scenario)
