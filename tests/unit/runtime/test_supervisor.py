"""An actor that crashes is restarted, a limited number of times."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.runtime.supervisor import RestartIntensity, catch_errors, supervised
from kiro_learn.testing.simulation import simulate


class Clumsy:
    """An actor that crashes ``crashes`` times, then works until it is stopped."""

    name = "clumsy"

    def __init__(self, crashes: int, *, seconds_between: float = 0.0) -> None:
        self.crashes = crashes
        self.seconds_between = seconds_between
        self.runs = 0
        self.abandoned = False
        self.stopped = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        self.runs += 1
        if self.runs <= self.crashes:
            await trio.sleep(self.seconds_between)
            raise RuntimeError("clumsy")
        await self.stopped.wait()

    def stop(self) -> None:
        self.stopped.set()

    def abandon(self) -> None:
        self.abandoned = True


def test_a_crash_restarts_it_and_no_other_actor() -> None:
    clumsy = Clumsy(crashes=3)

    async def scenario() -> None:
        async with supervised(clumsy):
            await trio.sleep(1)

    simulate(scenario)

    assert (clumsy.runs, clumsy.abandoned) == (4, True)


def test_too_many_crashes_fail_upwards() -> None:
    clumsy = Clumsy(crashes=100)

    async def scenario() -> None:
        async with supervised(clumsy, intensity=RestartIntensity(max_restarts=2, within_seconds=60.0)):
            await trio.sleep_forever()

    with pytest.RaisesGroup(RuntimeError):
        simulate(scenario)
    assert (clumsy.runs, clumsy.abandoned) == (3, True)


def test_crashes_far_apart_are_forgiven() -> None:
    clumsy = Clumsy(crashes=20, seconds_between=61.0)

    async def scenario() -> None:
        async with supervised(clumsy, intensity=RestartIntensity(max_restarts=1, within_seconds=60.0)):
            await trio.sleep(61.0 * 21)

    simulate(scenario)

    assert clumsy.runs == 21


def test_contained_work_answers_with_its_error() -> None:
    async def broken() -> None:
        raise ValueError("x")

    async def scenario() -> object:
        return await catch_errors("test", broken)

    assert isinstance(simulate(scenario), ValueError)


def test_contained_work_can_be_cancelled() -> None:
    async def scenario() -> bool:
        with trio.move_on_after(1) as scope:
            await catch_errors("test", trio.sleep_forever)
        return scope.cancelled_caught

    assert simulate(scenario)
