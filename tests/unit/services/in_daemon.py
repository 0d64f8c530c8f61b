"""Runs a scenario against the services of a simulated daemon."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from outcome import acapture

from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import simulate


def in_daemon(scenario: Callable[[Services], Awaitable[None]], **parts: Any) -> None:
    """``parts``: as of ``simulated_daemon``. What a failed assertion says comes out as it is."""

    async def run() -> None:
        async with simulated_daemon(**parts) as services:
            outcome = await acapture(scenario, services)
        outcome.unwrap()

    simulate(run)
