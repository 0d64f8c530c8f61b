"""Details of a turn that a model's wording lost are added as facts; the built-in learner's answer is unchanged."""

from __future__ import annotations

import pytest

from kiro_learn.model.record import BUILT_IN_STRATEGY, MODEL_STRATEGY
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import simulate
from tests.unit.pipelines.learn.learning_rig import a_rig

SAID = "why does it fail at 512 sockets in src/pool.py?"


class TitlesOnly(ScriptedLlm):
    def __init__(self, strategy: str) -> None:
        self.strategy = strategy
        record = '<memory_record type="decision" events="1"><title>The limit</title><summary>It stays.</summary>'
        super().__init__(lambda _: f"{record}</memory_record>")


@pytest.mark.parametrize(("strategy", "facts"), [(MODEL_STRATEGY, (SAID,)), (BUILT_IN_STRATEGY, ())])
def test_what_a_models_wording_lost_is_kept_as_a_fact(strategy: str, facts: tuple[str, ...]) -> None:
    async def scenario() -> None:
        async with a_rig(TitlesOnly(strategy)) as rig:
            await rig.learn(SAID)
            (record,) = await rig.records()
            assert record.facts == facts

    simulate(scenario)
