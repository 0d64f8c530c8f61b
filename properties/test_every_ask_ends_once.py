"""Whatever happens to the store, each writer gets exactly one result, and none waits for ever."""

from __future__ import annotations

from functools import partial

import trio
from hypothesis import strategies as st

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError, StorageBusy
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.runtime.supervisor import RestartIntensity, supervised
from kiro_learn.testing.daemon import an_event
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage


def work(number: int, fate: str, transaction: StorageTransaction) -> bool:
    if fate == "refuse":
        raise StorageBusy("refused")
    if fate == "crash":
        raise ZeroDivisionError
    return bool(transaction.put_event(an_event(number), size_bytes=1, buffered=False))


async def ending_of(writer: StorageActor, number: int, fate: str) -> str:
    with trio.move_on_after(0.0 if fate == "leave" else 3600):
        try:
            await writer.write(partial(work, number, fate))
        except KiroLearnError as error:
            return type(error).__name__
        return "kept"
    return "left" if fate == "leave" else "waited for ever"


@scheduled(fates=st.lists(st.sampled_from(["keep", "refuse", "busy", "crash", "leave"]), max_size=12))
async def test_every_writer_gets_its_one_ending(fates: list[str]) -> None:
    """Each write is stored, refused, ends with the actor, or is cancelled. Acknowledged writes are in the store."""
    storage = InMemoryStorage()
    writer = StorageActor(storage, batch_count=4, inbox_size=2)
    endings: dict[int, str] = {}

    async def ask(number: int, fate: str) -> None:
        if fate == "busy":
            storage.fail_next_write(StorageBusy("busy"))
        endings[number] = await ending_of(writer, number, fate)

    async with supervised(writer, intensity=RestartIntensity(max_restarts=1000)), trio.open_nursery() as nursery:
        for number, fate in enumerate(fates):
            nursery.start_soon(ask, number, fate)

    assert set(endings) == set(range(len(fates)))
    assert "waited for ever" not in endings.values()
    for number in (number for number, ending in endings.items() if ending == "kept"):
        assert await storage.get_event_by_id(an_event(number).event_id) is not None
