"""Runs a scenario against the services of a simulated daemon, with a way to write what no service would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from outcome import acapture

from kiro_learn.ports.storage.interface import Work
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import simulate

T = TypeVar("T")


def in_daemon(scenario: Callable[[Services], Awaitable[None]], **parts: Any) -> None:
    """``parts``: arguments of ``simulated_daemon``. A failed assertion is raised as it is, not in a group."""

    async def run() -> None:
        async with simulated_daemon(**parts) as services:
            outcome = await acapture(scenario, services)
        outcome.unwrap()

    simulate(run)


async def transact_in_daemon(services: Services, work: Work[T]) -> T:
    """Run ``work`` through the storage actor, so that actors that wait for a change are notified."""
    return await services.graph_items._edit._writer.write(work)
