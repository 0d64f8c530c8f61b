"""Who learns when the model is sick: in simulated time, through the whole household."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.actors.llm_ledger import LlmLedger
from kiro_learn.actors.llm_switch import LlmStatistics, LlmSwitch
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.breaker import CircuitBreaker
from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import LlmError
from kiro_learn.llm.interface import LlmChoice
from kiro_learn.model.namespace import namespace_of, project_id_in
from kiro_learn.services.desk import Desk
from kiro_learn.testing.household import NAMESPACE, an_event, simulated_household, simulated_world
from kiro_learn.testing.llm import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

PROJECT = project_id_in(NAMESPACE)
CONFIG = Config(learning=LearningConfig(breaker_failures=2, breaker_cooldown_seconds=600, retry_seconds=10))


class Patient(ScriptedLlm):
    """A model that is sick as long as ``is_sick``, in the way it was told to."""

    strategy = "llm-summary"
    name = "patient"

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__(a_record_per_event)
        self.is_sick = True
        self.asked_count = 0
        self._hangs = hangs

    async def complete(self, prompt: str) -> str:
        self.asked_count += 1
        if self.is_sick and self._hangs:
            await trio.sleep_forever()
        if self.is_sick:
            raise LlmError("out of sorts")
        return await super().complete(prompt)


async def learn(desk: Desk, number: int, *, after_seconds: float) -> list[str]:
    """Take one event, wait, and answer the strategies of all records, oldest first."""
    await desk.capture.take(an_event(number))
    await trio.sleep(after_seconds)
    page = await desk.library.records(namespace=NAMESPACE, limit=100, offset=0)
    return [record.strategy for record in reversed(page.items)]


async def who_learns(desk: Desk) -> LlmStatistics:
    return (await desk.health.status()).llm


@pytest.mark.parametrize("hangs", [False, True])
def test_the_stand_in_takes_over_when_the_model_has_failed_run_after_run(hangs: bool) -> None:
    model = Patient(hangs=hangs)

    async def scenario() -> tuple[list[str], LlmStatistics, list[str | None]]:
        async with simulated_household(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as desk:
            strategies = await learn(desk, 1, after_seconds=300)
            return strategies, await who_learns(desk), [p.problem for p in (await desk.health.status()).projects]

    strategies, llm, problems = simulate(scenario)

    assert strategies == ["scripted"], "the second run fails too, and is finished by the stand-in"
    assert (llm.strategy, llm.stands_in_for) == ("scripted", "patient")
    assert llm.problem == ("the learner took too long" if hangs else "out of sorts")
    assert problems == [None], "the project itself is learning"


def test_the_model_is_not_asked_again_before_the_cooldown_and_then_takes_over() -> None:
    model = Patient()

    async def scenario() -> tuple[list[str], int, int, LlmStatistics]:
        async with simulated_household(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as desk:
            await learn(desk, 1, after_seconds=120)
            asked_before = model.asked_count
            await learn(desk, 2, after_seconds=120)
            asked_meanwhile = model.asked_count - asked_before
            model.is_sick = False
            await learn(desk, 3, after_seconds=700)
            strategies = await learn(desk, 4, after_seconds=120)
            return strategies, asked_before, asked_meanwhile, await who_learns(desk)

    strategies, asked_before, asked_meanwhile, llm = simulate(scenario)

    assert (asked_before, asked_meanwhile) == (6, 0), "two runs of three attempts, then none"
    assert strategies == ["scripted", "scripted", "scripted", "llm-summary"]
    assert (llm.strategy, llm.stands_in_for, llm.problem) == ("llm-summary", None, None)


def test_without_a_stand_in_what_happened_waits() -> None:
    model = Patient()

    async def scenario() -> tuple[list[str], int, LlmStatistics, list[str]]:
        async with simulated_household(llm=model, config=CONFIG) as desk:
            none = await learn(desk, 1, after_seconds=120)
            waiting = (await desk.health.status()).waiting.event_count
            llm = await who_learns(desk)
            model.is_sick = False
            await trio.sleep(700)
            return none, waiting, llm, await learn(desk, 2, after_seconds=120)

    none, waiting, llm, strategies = simulate(scenario)

    assert (none, waiting) == ([], 1)
    assert (llm.strategy, llm.stands_in_for, llm.problem) == ("llm-summary", None, "out of sorts")
    assert strategies == ["llm-summary", "llm-summary"]


def test_a_stand_in_that_fails_leaves_it_waiting() -> None:
    def refuse(_prompt: str) -> str:
        raise LlmError("neither")

    async def scenario() -> tuple[list[str], int]:
        async with simulated_household(llm=Patient(), stand_in=ScriptedLlm(refuse), config=CONFIG) as desk:
            none = await learn(desk, 1, after_seconds=300)
            return none, (await desk.health.status()).waiting.event_count

    assert simulate(scenario) == ([], 1)


def test_one_failure_is_no_reason_to_ask_another() -> None:
    async def scenario() -> str:
        async with simulated_household(llm=Patient(), stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as desk:
            await desk.capture.take(an_event(1))
            with pytest.raises(LlmError, match="out of sorts"):
                await desk.learn.flush(PROJECT)
            return (await who_learns(desk)).strategy

    assert simulate(scenario) == "llm-summary"


OTHER = namespace_of("ada", "b" * 64)


async def open_breaker(desk: Desk, model: Patient) -> None:
    """Have ``model`` fail until it is given up, wait until it may be tried again, and make it slow from now on."""
    await learn(desk, 1, after_seconds=680)
    model.gate, model.is_sick = trio.Event(), False
    model.asked_count = 0


async def learn_in_two_projects(desk: Desk) -> None:
    """Two runs at once, as many as there are slots."""
    await desk.capture.take(an_event(2))
    await desk.capture.take(an_event(3, namespace=OTHER))
    await trio.sleep(40)


async def all_strategies(desk: Desk) -> list[str]:
    page = await desk.library.records(namespace=None, limit=100, offset=0)
    return sorted(record.strategy for record in page.items)


def test_only_one_run_tries_a_model_that_was_sick() -> None:
    """The other has somebody else to ask, and asks it at once."""
    model = Patient()

    async def scenario() -> tuple[int, list[str], list[str]]:
        async with simulated_household(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as desk:
            await open_breaker(desk, model)
            await learn_in_two_projects(desk)
            asked, meanwhile = model.asked_count, await all_strategies(desk)
            assert model.gate is not None
            model.gate.set()
            await trio.sleep(1)
            return asked, meanwhile, await all_strategies(desk)

    asked, meanwhile, afterwards = simulate(scenario)

    assert asked == 1
    assert meanwhile == ["scripted", "scripted"]
    assert afterwards == ["llm-summary", "scripted", "scripted"]


@pytest.mark.parametrize("recovers", [False, True])
def test_without_a_stand_in_the_other_run_waits_for_what_the_trial_shows(recovers: bool) -> None:
    model = Patient(hangs=True)

    async def scenario() -> tuple[int, list[str], set[str | None]]:
        async with simulated_household(llm=model, config=CONFIG) as desk:
            await learn_in_two_projects(desk)
            await trio.sleep(160)
            model.asked_count, model.is_sick = 0, not recovers
            await trio.sleep(630)
            problems = {project.problem for project in (await desk.health.status()).projects}
            return model.asked_count, await all_strategies(desk), problems

    asked, strategies, problems = simulate(scenario)

    if recovers:
        assert (asked, strategies, problems) == (2, ["llm-summary", "llm-summary"], {None})
    else:
        assert (asked, strategies, problems) == (1, [], {"the learner took too long"})


def test_a_trial_that_is_cut_short_leaves_the_model_to_the_next() -> None:
    storage = InMemoryStorage()
    switch = LlmSwitch(
        LlmChoice(preferred=Patient(), built_in=Patient()),
        CircuitBreaker(failure_threshold=1, cooldown_seconds=1),
        LlmLedger(storage, StorageActor(storage, batch_count=1), simulated_world(), daily_calls=0),
    )

    async def scenario() -> list[float]:
        tried: list[float] = []

        async def try_it() -> None:
            await switch.wait_for_trial()
            with trio.move_on_after(1), switch.asking():
                tried.append(trio.current_time())
                await trio.sleep_forever()

        with pytest.raises(LlmError), switch.asking():
            raise LlmError("out of sorts")
        await trio.sleep(2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(try_it)
            nursery.start_soon(try_it)
        return tried

    assert simulate(scenario) == [2, 3]
