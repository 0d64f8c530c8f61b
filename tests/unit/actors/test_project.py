"""One project's buffer: when it is learned, when events are set aside, and that all are learned in the end."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from kiro_learn.actors.project import ProjectStatistics
from kiro_learn.config import Config, LearningConfig, LlmConfig
from kiro_learn.errors import LlmError, StorageBusy
from kiro_learn.model.buffer import BreakerState, BufferSize
from kiro_learn.model.namespace import project_id_in
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.actors.patient import (
    APART,
    Patient,
    cited_events,
    config,
    once_each,
    out_of_sorts,
    project,
    put_unseen,
    take,
    wait_cited,
)
from tests.unit.pipelines.learn.learning_rig import PickyStorage

PROJECT = project_id_in(NAMESPACE)


class TestPortions:
    SMALL = LlmConfig(prompt_tokens=1900)
    """Settings with room for the instructions and about a dozen short events."""

    def test_what_is_left_of_a_long_batch_does_not_wait_again(self) -> None:
        llm = Patient()

        async def scenario() -> tuple[int, float]:
            settings = Config(llm=self.SMALL, reconciliation=APART)
            async with simulated_daemon(llm=llm, config=settings) as services:
                await take(services, range(20))
                await trio.sleep(31)
                assert await cited_events(services) == once_each(range(20))
                return llm.asked["learning"], (await project(services)).waiting_event_count

        runs, waiting = simulate(scenario)
        assert runs > 1
        assert waiting == 0

    def test_the_built_in_learner_has_no_limit(self) -> None:
        prompts: list[str] = []

        def script(prompt: str) -> str:
            prompts.append(prompt)
            return a_record_per_event(prompt)

        async def scenario() -> None:
            settings = Config(llm=self.SMALL, reconciliation=APART)
            async with simulated_daemon(llm=ScriptedLlm(script), config=settings) as services:
                await take(services, range(20))
                await trio.sleep(31)

        simulate(scenario)
        assert len(prompts) == 1


class TestPauses:
    def test_a_model_that_was_sick_over_a_weekend_is_asked_again_within_the_cooldown(self) -> None:
        """No event comes meanwhile, so only the probe wakes the project."""
        llm = Patient(out_of_sorts)

        async def scenario() -> float:
            async with simulated_daemon(llm=llm, config=Config(reconciliation=APART)) as services:
                await take(services, range(2))
                await trio.sleep(60 * 3600)
                llm.learn, well_since = a_record_per_event, trio.current_time()
                await wait_cited(services, 2, patience_seconds=1_000_000)
                return trio.current_time() - well_since

        assert simulate(scenario) <= 610


class TestParked:
    def test_what_an_earlier_daemon_set_aside_is_learned_by_the_next(self) -> None:
        storage = InMemoryStorage()

        async def scenario() -> BufferSize:
            async with simulated_daemon(storage=storage, llm=ScriptedLlm(out_of_sorts), config=config()) as services:
                await take(services, range(2))
                await trio.sleep(1)
                await transact_one(storage, lambda tx: tx.park_buffer(NAMESPACE, through=10))
            async with simulated_daemon(storage=storage, config=config()) as services:
                await trio.sleep(1)
                assert await cited_events(services) == once_each(range(2))
                return (await services.health.status()).waiting

        assert simulate(scenario) == BufferSize()

    def test_a_project_does_not_retire_while_something_is_parked(self) -> None:
        storage = PickyStorage(lambda title: title == "event 1")

        async def scenario() -> tuple[int, float, int]:
            async with simulated_daemon(storage=storage, config=config()) as services:
                await take(services, range(2))
                await trio.sleep(700)
                held = (await project(services)).parked_cluster_count
                storage.refuses = lambda _title: False
                await trio.sleep(2000)
                assert await cited_events(services) == once_each(range(2))
                return held, trio.current_time(), len((await services.health.status()).projects)

        held, _, actors = simulate(scenario)
        assert (held, actors) == (1, 0)

    def test_a_project_that_has_only_a_parked_cluster_is_awake_from_the_start(self) -> None:
        storage = PickyStorage(lambda title: title == "event 1")

        async def scenario() -> None:
            async with simulated_daemon(storage=storage, config=config()) as services:
                await take(services, range(1))
                await services.learn.flush(PROJECT)
            storage.refuses = lambda _title: False
            async with simulated_daemon(storage=storage, config=config()) as services:
                await trio.sleep(60)
                assert await cited_events(services) == once_each(range(1))

        simulate(scenario)


class TestFlush:
    def test_it_says_how_many_events_stay_parked(self) -> None:
        storage = PickyStorage(lambda title: title == "event 2")

        async def scenario() -> tuple[int, int, int]:
            async with simulated_daemon(storage=storage, config=config()) as services:
                await take(services, range(3))
                flushed = await services.learn.flush(PROJECT)
                return flushed.event_count, flushed.record_count, flushed.parked_count

        assert simulate(scenario) == (3, 2, 1)

    def test_it_tries_what_is_parked_before_its_time_and_takes_back_what_was_set_aside(self) -> None:
        storage = PickyStorage(lambda title: title == "event 1")

        async def scenario() -> tuple[int, int]:
            async with simulated_daemon(storage=storage, config=config()) as services:
                await take(services, range(1))
                await services.learn.flush(PROJECT)
                storage.refuses = lambda _title: False
                await take(services, range(1, 3))
                await transact_one(storage, lambda tx: tx.park_buffer(NAMESPACE, through=2))
                before = trio.current_time()
                flushed = await services.learn.flush(PROJECT)
                assert await cited_events(services) == once_each(range(3))
                assert trio.current_time() - before < 1
                return flushed.record_count, flushed.parked_count

        assert simulate(scenario) == (3, 0)

    def test_it_takes_back_what_was_set_aside_even_from_a_sick_learner_and_says_what_is_wrong(self) -> None:
        storage = InMemoryStorage()

        async def scenario() -> tuple[int, int]:
            async with simulated_daemon(storage=storage, llm=Patient(out_of_sorts), config=config()) as services:
                await take(services, range(2))
                await transact_one(storage, lambda tx: tx.park_buffer(NAMESPACE, through=2))
                with pytest.raises(LlmError, match="out of sorts"):
                    await services.learn.flush(PROJECT)
                waiting = (await services.health.status()).waiting
                return waiting.event_count, waiting.parked_event_count

        assert simulate(scenario) == (2, 0)


class TestHints:
    def test_an_actor_that_is_started_for_one_event_learns_the_others_too(self) -> None:
        """It was not notified of them: the sender stopped, or an actor crashed for good."""
        storage = InMemoryStorage()

        async def scenario() -> None:
            async with simulated_daemon(
                storage=storage, config=Config(learning=LearningConfig(extraction_bytes=25), reconciliation=APART)
            ) as services:
                await trio.sleep(1)
                for number in range(6):
                    await transact_one(storage, partial(put_unseen, number))
                await services.capture.take(an_event(6))
                await trio.sleep(100)
                assert await cited_events(services) == once_each(range(7))

        simulate(scenario)

    def test_a_store_that_cannot_be_read_is_read_again_later(self) -> None:
        storage = InMemoryStorage()

        async def scenario() -> str | None:
            async with simulated_daemon(storage=storage, config=config()) as services:
                await take(services, range(1))
                await trio.sleep(29)
                storage.fail_next_read(StorageBusy("locked"))
                await trio.sleep(5)
                problem = (await project(services)).problem
                await trio.sleep(20)
                assert await cited_events(services) == once_each(range(1))
                return problem

        assert simulate(scenario) == "locked"

    def test_statistics_tell_of_both_breakers(self) -> None:
        async def scenario() -> ProjectStatistics:
            settings = Config(learning=LearningConfig(extraction_attempts=1))
            async with simulated_daemon(llm=ScriptedLlm(out_of_sorts), config=settings) as services:
                await take(services, range(1))
                await trio.sleep(90)
                return await project(services)

        statistics = simulate(scenario)
        assert (statistics.breaker, statistics.failure_count) == (BreakerState.OPEN, 3)
        assert statistics.judge_breaker is BreakerState.CLOSED
        assert (statistics.problem, statistics.is_learning) == ("out of sorts", False)
