"""A model learns a turn with its answer or after a long silence; the built-in learner after each short silence."""

from __future__ import annotations

import trio

from kiro_learn.config import Config, LearningConfig
from kiro_learn.model.event import EventKind
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.ports.models import Learner, Llm
from kiro_learn.testing.daemon import an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage

CONFIG = Config(learning=LearningConfig(buffer_idle_seconds=30.0, turn_idle_seconds=300.0))


def learned_after(llm: Llm | Learner, *kinds: EventKind) -> list[bool]:
    """Whether a run had been made 40, 290 and 340 seconds after events of ``kinds``."""
    storage = InMemoryStorage()

    async def scenario() -> list[bool]:
        async with simulated_daemon(config=CONFIG, llm=llm, storage=storage, waits_for_answers=True) as services:
            for number, kind in enumerate(kinds, start=1):
                await services.capture.take(an_event(number, kind=kind, text="Always use pnpm here, never npm."))
            seen = []
            for seconds in (40, 250, 50):
                await trio.sleep(seconds)
                seen.append(bool(await storage.list_runs(9)))
            return seen

    return simulate(scenario)


class Model(ScriptedLlm):
    """A model that always skips."""

    strategy = MODEL_STRATEGY

    def __init__(self) -> None:
        super().__init__(lambda _prompt: "<skip/>")


def test_a_model_waits_for_the_answer_of_a_turn() -> None:
    assert learned_after(Model(), EventKind.PROMPT, EventKind.SESSION_SUMMARY) == [True, True, True]
    assert learned_after(Model(), EventKind.PROMPT, EventKind.TOOL_USE) == [False, False, True]


def test_the_built_in_learner_does_not() -> None:
    assert learned_after(BuiltInLearner(in_place), EventKind.PROMPT, EventKind.TOOL_USE) == [True, True, True]
