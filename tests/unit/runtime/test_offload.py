"""What a model answers is read off the event loop: an answer may have millions of characters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import trio

from kiro_learn.learning.reconciliation.plan import KeepSeparate
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.record import MemoryRecord
from kiro_learn.runtime.admission import in_place
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import simulate
from tests.unit.actors.patient import Patient, config, out_of_sorts, take
from tests.unit.pipelines.learn.learning_rig import JudgingModel, a_rig, keep_separate

T = TypeVar("T")


class Away:
    """Computes in place, and remembers which sorts of values came of it; a collection counts as what it holds."""

    def __init__(self) -> None:
        self.made: set[type] = set()

    async def __call__(self, compute: Callable[[], T], /) -> T:
        value = await in_place(compute)
        self.made |= {type(each) for each in (value if isinstance(value, list | tuple) else [value])}
        return value


def test_a_verdict_and_the_scrub_of_what_was_learned_are_away_from_the_loop() -> None:
    away = Away()

    async def scenario() -> None:
        async with a_rig(JudgingModel(keep_separate), offload=away) as rig:
            await rig.learn(
                "the cache is keyed by commit and kept on disk", "the cache is keyed by commit and kept on ssd"
            )

    simulate(scenario)
    assert {KeepSeparate, MemoryRecord} <= away.made


def test_a_compaction_is_away_from_the_loop() -> None:
    away = Away()

    async def scenario() -> None:
        async with simulated_daemon(llm=Patient(learn=out_of_sorts), config=config(), background=away) as services:
            await take(services, range(10))
            await trio.sleep(35)

    simulate(scenario)
    assert BufferedEvent in away.made
