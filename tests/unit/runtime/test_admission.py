"""Whoever comes next begins when the one before has ended, or has been at it for long enough."""

from __future__ import annotations

import gc
import weakref

import trio

from kiro_learn.runtime.admission import AdmissionQueue, Ticket
from kiro_learn.testing.simulation import simulate


def beginnings(*seconds: float, lease: float = 1.0, patience: float = 10.0) -> list[float]:
    """When each of those who come together begins, if they take so long."""

    async def scenario() -> list[float]:
        admission = AdmissionQueue(lease_seconds=lease, patience_seconds=patience)
        came = trio.current_time()
        begun: list[float] = []

        async def work(seconds: float) -> None:
            with admission.queued() as turn:
                await turn.begin()
                begun.append(round(trio.current_time() - came, 6))
                await trio.sleep(seconds)

        async with trio.open_nursery() as nursery:
            for each in seconds:
                nursery.start_soon(work, each)
                await trio.testing.wait_all_tasks_blocked()
        return begun

    return simulate(scenario)


def test_one_after_the_other() -> None:
    assert beginnings(0.5, 0.25, 0.5) == [0, 0.5, 0.75]


def test_a_slow_ticket_is_waited_for_until_the_end_of_its_lease() -> None:
    assert beginnings(60, 0.5, 60, 0.5) == [0, 1, 1.5, 2.5]


def test_patience_has_an_end() -> None:
    assert beginnings(1, 1, 1, 1, 1, patience=2.5) == [0, 1, 2, 2.5, 2.5]


def test_a_ticket_that_gives_up_does_not_keep_the_next_one_waiting() -> None:
    async def scenario() -> list[float]:
        admission = AdmissionQueue(lease_seconds=1, patience_seconds=10)
        came = trio.current_time()
        begun = []

        async def come(patience_seconds: float) -> None:
            with trio.move_on_after(patience_seconds), admission.queued() as turn:
                await turn.begin()
                begun.append(trio.current_time() - came)

        with admission.queued() as first:
            await first.begin()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(come, 0.25)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(come, 60)
        return begun

    assert simulate(scenario) == [0.25]


def test_those_who_had_their_turn_are_forgotten() -> None:
    async def scenario() -> int:
        admission = AdmissionQueue(lease_seconds=1, patience_seconds=10)
        had: weakref.WeakSet[Ticket] = weakref.WeakSet()
        for _ in range(5):
            with admission.queued() as turn:
                await turn.begin()
                had.add(turn)
        with admission.queued() as turn:
            await turn.begin()
            gc.collect()
            return len(had)

    assert simulate(scenario) == 0
