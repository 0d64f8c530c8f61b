"""A batch that cannot be learned does not keep the project from learning the rest; it is learned in the end."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.actors.project import ProjectStatistics
from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import LlmError
from kiro_learn.model.buffer import LearningRun
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import project_id_in
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate
from tests.unit.actors.patient import APART, Patient, cited_events, once_each, out_of_sorts, project, wait_cited

PROJECT = project_id_in(NAMESPACE)
BAD = "poison"
TURNS = 16


class Choosy(Patient):
    """A model that fails or hangs on every prompt that holds a bad word."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__()
        self.hangs = hangs
        self.failed_count = 0

    async def complete(self, prompt: str) -> str:
        if BAD in prompt:
            self.failed_count += 1
            if self.hangs:
                await trio.sleep_forever()
            raise LlmError("the content filter refuses it")
        return await super().complete(prompt)


def settings(**learning: float) -> Config:
    return Config(learning=LearningConfig(**{"extraction_attempts": 1, **learning}), reconciliation=APART)  # type: ignore[arg-type]  # whole numbers where they must be


async def take_turns(services: Services, bad: set[int], *, turns: int = TURNS, session: str = "s") -> None:
    """Take turns of three events each; event 3n is the prompt of turn n."""
    for turn in range(turns):
        text = f"{BAD} {turn}" if turn in bad else f"turn {turn}"
        kinds = (EventKind.PROMPT, EventKind.TOOL_USE, EventKind.SESSION_SUMMARY)
        for number, kind in enumerate(kinds, start=3 * turn):
            await services.capture.take(an_event(number, kind=kind, text=text, session=session))


def everything(turns: int = TURNS) -> range:
    return range(3 * turns)


async def strategies_by_event(services: Services) -> dict[str, str]:
    page = await services.queries.records(namespace=NAMESPACE, limit=1000, offset=0)
    return {event_id: record.strategy for record in page.items for event_id in record.source_event_ids}


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("bad", [{0}, {7}, {15}, {3, 4, 12}])
def test_the_rest_is_learned_by_the_model_and_the_bad_turn_by_the_built_in_learner(hangs: bool, bad: set[int]) -> None:
    model = Choosy(hangs=hangs)

    async def scenario() -> tuple[dict[str, str], ProjectStatistics, float]:
        async with simulated_daemon(llm=model, config=settings()) as services:
            await take_turns(services, bad)
            await wait_cited(services, len(everything()), patience_seconds=7200)
            assert await cited_events(services) == once_each(everything())
            return await strategies_by_event(services), await project(services), trio.current_time()

    strategies, statistics, seconds = simulate(scenario)
    without_model = {number // 3 for number in everything() if strategies[an_event(number).event_id] == "scripted"}
    assert without_model == bad
    assert statistics.refused_event_count == 3 * len(bad)
    assert statistics.refusal is not None
    assert "works" in statistics.refusal
    assert statistics.failure_count == 0, "the model is well"
    assert model.failed_count <= 6 * len(bad)
    assert seconds <= 30 + 5 + 120 * 6 * len(bad)


def test_what_came_later_does_not_wait_for_a_pause() -> None:
    async def scenario() -> None:
        async with simulated_daemon(llm=Choosy(), config=settings()) as services:
            await take_turns(services, {7})
            await trio.sleep(31)
            assert await cited_events(services) == once_each(everything())

    simulate(scenario)


def test_a_flush_learns_around_a_bad_turn_too() -> None:
    async def scenario() -> tuple[int, int]:
        async with simulated_daemon(llm=Choosy(), config=settings()) as services:
            await take_turns(services, {7})
            flushed = await services.learn.flush(PROJECT)
            assert await cited_events(services) == once_each(everything())
            return flushed.event_count, flushed.parked_count

    assert simulate(scenario) == (3 * TURNS, 0)


def test_turns_of_interleaved_sessions_are_parted_too() -> None:
    async def scenario() -> None:
        async with simulated_daemon(llm=Choosy(), config=settings()) as services:
            for number in range(12):
                kind = EventKind.PROMPT if number < 2 else EventKind.TOOL_USE
                text = f"{BAD} {number}" if number == 5 else f"event {number}"
                await services.capture.take(an_event(number, kind=kind, text=text, session=str(number % 2)))
            await trio.sleep(31)
            assert await cited_events(services) == once_each(range(12))

    simulate(scenario)


def test_a_model_that_is_sick_is_not_taken_for_a_bad_batch() -> None:
    """All events wait until the model works again, as long as it takes."""
    model = Patient(out_of_sorts)

    async def scenario() -> tuple[int, int, set[str]]:
        async with simulated_daemon(llm=model, config=settings()) as services:
            await take_turns(services, set())
            await trio.sleep(24 * 3600)
            sick = await project(services)
            model.learn = a_record_per_event
            await trio.sleep(1200)
            assert await cited_events(services) == once_each(everything())
            return (
                sick.waiting_event_count,
                sick.parked_event_count,
                set((await strategies_by_event(services)).values()),
            )

    assert simulate(scenario) == (3 * TURNS, 0, {"llm-summary"})


def test_a_bad_turn_at_the_head_does_not_keep_a_model_out_that_was_sick() -> None:
    model = Choosy()
    model.learn = out_of_sorts

    async def scenario() -> None:
        async with simulated_daemon(llm=model, config=settings()) as services:
            await take_turns(services, {0})
            await trio.sleep(3600)
            model.learn = a_record_per_event
            await trio.sleep(610)
            assert await cited_events(services) == once_each(everything())

    simulate(scenario)


class TestWithoutAnotherLearner:
    @staticmethod
    def refuse_bad(prompt: str) -> str:
        if BAD in prompt:
            raise LlmError("no usable answer")
        return a_record_per_event(prompt)

    def test_the_bad_turn_is_set_aside_shown_and_tried_again(self) -> None:
        """The built-in learner fails on the turn, and there is no other learner."""
        llm = ScriptedLlm(self.refuse_bad)

        async def scenario() -> tuple[ProjectStatistics, list[LearningRun]]:
            async with simulated_daemon(llm=llm, config=settings()) as services:
                await take_turns(services, {0}, turns=4)
                await wait_cited(services, 9, patience_seconds=3600)
                statistics, runs = await project(services), (await services.health.status()).runs
                llm.script = a_record_per_event
                await trio.sleep(1300)
                assert await cited_events(services) == once_each(everything(4))
                return statistics, list(runs)

        statistics, runs = simulate(scenario)
        assert statistics.waiting_event_count + statistics.parked_event_count == 3
        assert "no usable answer" in {run.problem for run in runs}
