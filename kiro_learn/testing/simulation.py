"""Simulated time: a scenario runs without waiting, and the same way every time."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import trio
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from trio._core import _run as trio_run
from trio.testing import MockClock

T = TypeVar("T")

EPOCH = datetime(2026, 1, 5, 12, tzinfo=UTC)


def simulated_now() -> datetime:
    """A wall clock that follows trio's."""
    return EPOCH + timedelta(seconds=trio.current_time())


async def in_place(compute: Callable[[], T], /) -> T:
    """Compute right here, as an ``Offload``: simulated time must not jump while a thread works."""
    await trio.lowlevel.checkpoint()
    return compute()


def simulate(scenario: Callable[[], Awaitable[T]], *, seed: int = 0) -> T:
    """Run ``scenario`` on a clock that jumps to the next deadline as soon as every task waits.

    ``seed`` decides which of several runnable tasks runs first. A scenario must not use threads: the clock would jump
    past every deadline while one works. Use the fakes.
    """
    # trio has no public way to fix its order of tasks; a test of ours fails if these names ever change.
    trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]  # noqa: SLF001  # declared Final
    trio_run._r.seed(seed)  # noqa: SLF001
    return trio.run(scenario, clock=MockClock(autojump_threshold=0))


def scheduled(**strategies: SearchStrategy[Any]) -> Callable[[Callable[..., Awaitable[None]]], Callable[[], None]]:
    """Make an async function a property: its arguments are drawn, and so is the order in which tasks run.

    Under Hypothesis, trio's scheduler otherwise starts every example from the same seed and explores one order only.
    """

    def decorate(scenario: Callable[..., Awaitable[None]]) -> Callable[[], None]:
        @given(seed=st.integers(0, 2**32 - 1), drawn=st.fixed_dictionaries(strategies))
        def property_of(seed: int, drawn: dict[str, Any]) -> None:
            simulate(functools.partial(scenario, **drawn), seed=seed)

        property_of.__name__ = scenario.__name__
        property_of.__doc__ = scenario.__doc__
        return property_of

    return decorate
