"""Writes that come at once are committed together, and each is answered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import ActorStopped, StorageBusy, StorageError
from kiro_learn.ports.storage.answers import Outcome
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage


class SlowStorage(InMemoryStorage):
    """A store that takes a second for a commit, and notes its count of writes."""

    def __init__(self) -> None:
        super().__init__()
        self.batch_sizes: list[int] = []

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        self.batch_sizes.append(len(works))
        await trio.sleep(1)
        return await super().transact(works)


def nothing(_transaction: StorageTransaction) -> None: ...


async def write(actor: StorageActor, times: int, *, after_seconds: float) -> None:
    await trio.sleep(after_seconds)
    for _ in range(times):
        await actor.write(nothing)


def batch_sizes(starts: Sequence[float], *, times: int, batch_count: int = 256) -> list[int]:
    """The sizes of batches, if each writer begins at its time in ``starts`` and writes again after each answer."""

    async def scenario() -> list[int]:
        storage = SlowStorage()
        actor = StorageActor(storage, batch_count=batch_count)
        async with trio.open_nursery() as daemon:
            daemon.start_soon(actor.run)
            async with trio.open_nursery() as writers:
                for start in starts:
                    writers.start_soon(partial(write, actor, times, after_seconds=start))
            actor.stop()
        return storage.batch_sizes

    return simulate(scenario)


def test_writers_that_meet_once_stay_together() -> None:
    assert batch_sizes([0, 0.5], times=4) == [1, 2, 2, 2, 1]
    assert batch_sizes([0, 0.25, 0.5, 1.5], times=3) == [1, 3, 4, 3, 1]


def test_a_batch_is_no_larger_than_it_may_be() -> None:
    assert max(batch_sizes([0] * 7, times=3, batch_count=3)) == 3


def test_a_writer_that_is_alone_is_committed_alone() -> None:
    assert batch_sizes([0], times=3) == [1, 1, 1]


class IllStorage(InMemoryStorage):
    """A store that raises ``errors``, one a commit, before it works."""

    errors: list[StorageError]

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        if self.errors:
            raise self.errors.pop(0)
        return await super().transact(works)


def test_why_nothing_is_stored_is_known_until_something_is() -> None:
    storage = IllStorage()
    storage.errors = [StorageError("the disk is ill", hint="SQLite says: disk I/O error."), StorageBusy("in use")]

    async def scenario() -> list[str]:
        actor = StorageActor(storage, batch_count=9)
        problems = [actor.problem]
        async with trio.open_nursery() as daemon:
            daemon.start_soon(actor.run)
            for _ in range(3):
                with suppress(StorageError):
                    await actor.write(nothing)
                problems.append(actor.problem)
            actor.stop()
        return problems

    told = "the disk is ill \N{MIDDLE DOT} SQLite says: disk I/O error."
    assert simulate(scenario) == ["", told, told, ""]


def test_a_waiting_caller_is_told_when_the_actor_ends_at_any_moment() -> None:
    for passes in range(12):
        assert simulate(partial(endings, passes)) == 3


async def endings(passes: int) -> int:
    """How many of three writers got an answer or an error, if the actor is cancelled after so many passes."""
    actor = StorageActor(SlowStorage(), batch_count=256)
    ended = 0

    async def write_once() -> None:
        nonlocal ended
        with suppress(ActorStopped):
            await actor.write(nothing)
        ended += 1

    with trio.move_on_after(60):
        async with trio.open_nursery() as writers:
            for _ in range(3):
                writers.start_soon(write_once)
            async with trio.open_nursery() as daemon:
                daemon.start_soon(actor.run)
                for _ in range(passes):
                    await trio.lowlevel.checkpoint()
                daemon.cancel_scope.cancel()
            actor.abandon()
    return ended
