"""Calls of models are counted, stored and limited: in simulated time, through the whole daemon."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.actors.llm_use import LlmStatistics
from kiro_learn.config import Config, LearningConfig, LlmConfig
from kiro_learn.errors import LlmError, ModelBusy, StorageUnavailable
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage

HALF_A_DAY = 12 * 3600.0


class Model(ScriptedLlm):
    """A script that the statistics count as a model."""

    strategy = MODEL_STRATEGY
    name = "model"


def refuse(_prompt: str) -> str:
    raise LlmError("out of sorts")


def a_config(*, daily_calls: int = 500, attempts: int = 3) -> Config:
    learning = LearningConfig(extraction_attempts=attempts, retry_seconds=3600, project_idle_seconds=86_400)
    return Config(learning=learning, llm=LlmConfig(daily_calls=daily_calls))


async def learn(services: Services, *numbers: int) -> list[str]:
    """Take events, each learned in a run of its own; return the strategies of all records, oldest first."""
    for number in numbers:
        await services.capture.take(an_event(number))
        await trio.sleep(35)
    page = await services.queries.records(namespace=NAMESPACE, limit=100, offset=0)
    return [record.strategy for record in reversed(page.items)]


async def who_learns(services: Services) -> LlmStatistics:
    return (await services.health.status()).llm


def test_a_call_is_counted_with_what_went_out_and_came_back() -> None:
    said: list[tuple[str, str]] = []

    def answer(prompt: str) -> str:
        said.append((prompt, a_record_per_event(prompt)))
        return said[-1][1]

    async def scenario() -> LlmStatistics:
        async with simulated_daemon(llm=Model(answer)) as services:
            await learn(services, 1, 2)
            return await who_learns(services)

    usage = simulate(scenario).usage

    assert (usage.day, usage.calls, usage.limit, usage.failures) == (EPOCH.date(), 2, 500, 0)
    assert usage.characters_in == sum(len(prompt) for prompt, _ in said)
    assert usage.characters_out == sum(len(words) for _, words in said)
    assert [(project.namespace, project.calls) for project in usage.projects] == [(NAMESPACE, 2)]


def test_the_built_in_learner_is_no_model() -> None:
    async def scenario() -> tuple[list[str], int]:
        async with simulated_daemon(config=a_config(daily_calls=1)) as services:
            return await learn(services, 1, 2), (await who_learns(services)).usage.calls

    assert simulate(scenario) == (["scripted", "scripted"], 0)


def test_a_call_without_an_answer_counts_too() -> None:
    async def scenario() -> LlmStatistics:
        async with simulated_daemon(llm=Model(refuse), config=a_config()) as services:
            await learn(services, 1)
            return await who_learns(services)

    usage = simulate(scenario).usage

    assert (usage.calls, usage.failures, usage.characters_out) == (4, 4, 0), "three attempts and a health check"
    assert usage.characters_in > 0


def stay_busy(_prompt: str) -> str:
    raise ModelBusy("host", 500, was_asked=False)


def test_a_call_that_was_not_made_is_not_counted() -> None:
    """The server has said how long it is busy, so no call is made."""

    async def scenario() -> tuple[LlmStatistics, list[str]]:
        async with simulated_daemon(llm=Model(stay_busy), config=a_config(daily_calls=1)) as services:
            strategies = await learn(services, 1, 2)
            return await who_learns(services), strategies

    llm, strategies = simulate(scenario)

    assert (llm.usage.calls, llm.usage.failures, llm.usage.characters_in, llm.usage.is_spent) == (0, 0, 0, False)
    assert strategies == []


def test_attempts_that_fail_are_spaced() -> None:
    """The pauses are one second, then two. The last call is the health check, after which the run has failed."""
    assert moments_of(LlmError("out of sorts")) == [30.0, 31.0, 33.0, 33.0]


def test_a_server_that_says_when_is_asked_then() -> None:
    assert moments_of(ModelBusy("host", 9)) == [30.0, 39.0, 48.0]


def test_a_server_that_wants_to_be_left_alone_for_long_is_left_to_a_later_run() -> None:
    assert moments_of(ModelBusy("host", 300)) == [30.0]


def moments_of(error: LlmError) -> list[float]:
    """The times at which a model that fails with ``error`` is asked to learn one batch."""
    moments: list[float] = []

    def fail(_prompt: str) -> str:
        moments.append(trio.current_time())
        raise error

    async def scenario() -> None:
        async with simulated_daemon(llm=Model(fail), config=a_config()) as services:
            await learn(services, 1)
            await trio.sleep(60)

    simulate(scenario)
    return moments


def test_a_call_that_took_too_long_counts_with_its_time() -> None:
    model = Model(a_record_per_event)
    model.gate = trio.Event()

    async def scenario() -> LlmStatistics:
        async with simulated_daemon(llm=model, config=a_config()) as services:
            await learn(services, 1)
            await trio.sleep(60)
            statistics = await who_learns(services)
            assert model.gate is not None
            model.gate.set()
            return statistics

    usage = simulate(scenario).usage

    assert (usage.calls, usage.failures, usage.seconds) == (2, 1, 60.0), "a health check is under way"


def test_a_call_that_a_shutdown_cut_short_is_in_the_books() -> None:
    model, storage = Model(a_record_per_event), InMemoryStorage()
    model.gate = trio.Event()

    async def scenario() -> list[int]:
        with trio.move_on_after(40):
            async with simulated_daemon(llm=model, storage=storage) as services:
                await services.capture.take(an_event(1))
                await trio.sleep_forever()
        return [usage.call_count for usage in await storage.list_llm_usage(since=EPOCH.date())]

    assert simulate(scenario) == [1]


def test_the_books_outlast_the_daemon() -> None:
    storage = InMemoryStorage()

    async def scenario() -> tuple[LlmStatistics, LlmStatistics]:
        async with simulated_daemon(llm=Model(a_record_per_event), storage=storage) as services:
            await learn(services, 1)
            before = await who_learns(services)
        async with simulated_daemon(llm=Model(a_record_per_event), storage=storage) as services:
            return before, await who_learns(services)

    before, after = simulate(scenario)

    assert before.usage.calls == 1
    assert after.usage == before.usage


def test_every_day_starts_at_nothing() -> None:
    async def scenario() -> tuple[int, list[tuple[int, int]]]:
        storage = InMemoryStorage()
        async with simulated_daemon(llm=Model(a_record_per_event), storage=storage) as services:
            await learn(services, 1)
            await trio.sleep(HALF_A_DAY)
            fresh = (await who_learns(services)).usage.calls
            await learn(services, 2, 3)
        usages = await storage.list_llm_usage(since=EPOCH.date())
        return fresh, [((usage.day - EPOCH.date()).days, usage.call_count) for usage in usages]

    assert simulate(scenario) == (0, [(0, 1), (1, 2)])


def test_books_that_cannot_be_kept_are_kept_with_the_next_call() -> None:
    model, storage = Model(a_record_per_event), InMemoryStorage()
    model.gate = trio.Event()

    async def scenario() -> tuple[list[str], int, LlmStatistics, int]:
        async with simulated_daemon(llm=model, storage=storage) as services:
            await learn(services, 1)
            storage.fail_next_write(StorageUnavailable("the store"))
            assert model.gate is not None
            model.gate.set()
            await trio.sleep(1)
            (behind,) = await storage.list_llm_usage(since=EPOCH.date())
            strategies, statistics = await learn(services, 2), await who_learns(services)
        (kept,) = await storage.list_llm_usage(since=EPOCH.date())
        return strategies, behind.characters_out, statistics, kept.characters_out

    strategies, behind, statistics, kept = simulate(scenario)

    assert strategies == ["llm-summary", "llm-summary"], "learning did not notice"
    assert behind == 0
    assert kept == statistics.usage.characters_out > 0


def test_the_built_in_learner_goes_on_when_the_calls_are_used_up() -> None:
    async def scenario() -> tuple[list[str], LlmStatistics, list[str], LlmStatistics]:
        async with simulated_daemon(llm=Model(a_record_per_event), config=a_config(daily_calls=2)) as services:
            strategies, spent = await learn(services, 1, 2, 3), await who_learns(services)
            await trio.sleep(HALF_A_DAY)
            return strategies, spent, await learn(services, 4), await who_learns(services)

    strategies, spent, next_day, fresh = simulate(scenario)

    assert strategies == ["llm-summary", "llm-summary", "scripted"]
    assert (spent.strategy, spent.stands_in_for, spent.usage.is_spent) == ("scripted", "model", True)
    assert spent.reason == "2 of 2 calls today: the built-in learner goes on until midnight (UTC)"
    assert next_day == [*strategies, "llm-summary"]
    assert (fresh.strategy, fresh.stands_in_for, fresh.usage.calls, fresh.reason) == ("llm-summary", None, 1, "")


def test_no_limit_is_no_limit() -> None:
    async def scenario() -> tuple[list[str], bool]:
        async with simulated_daemon(llm=Model(a_record_per_event), config=a_config(daily_calls=0)) as services:
            return await learn(services, 1, 2), (await who_learns(services)).usage.is_spent

    assert simulate(scenario) == (["llm-summary", "llm-summary"], False)


@pytest.mark.parametrize("attempts", [2, 3])
def test_a_run_that_uses_up_the_calls_is_finished_by_the_built_in_learner(attempts: int) -> None:
    """That holds whether or not the model's last attempt was the run's last. It does not affect the model's health."""

    async def scenario() -> tuple[list[str], LlmStatistics, list[int]]:
        config = a_config(daily_calls=2, attempts=attempts)
        async with simulated_daemon(llm=Model(refuse), config=config) as services:
            strategies = await learn(services, 1)
            status = await services.health.status()
            return strategies, status.llm, [project.failure_count for project in status.projects]

    strategies, llm, failures = simulate(scenario)

    assert (strategies, failures) == (["scripted"], [0])
    assert (llm.usage.calls, llm.usage.failures) == (2, 2)


def say_it_twice(_prompt: str) -> str:
    return "".join(
        '<memory_record type="decision" events="1"><title>Use pnpm</title>'
        f"<summary>Packages are installed with pnpm, never with {other}.</summary></memory_record>"
        for other in ("npm", "yarn")
    )


@pytest.mark.parametrize(("daily_calls", "calls"), [(1, 1), (0, 3)])
def test_a_judge_that_may_not_be_asked_any_more_does_not_end_the_run(daily_calls: int, calls: int) -> None:
    """Extraction took the last call, so duplicates among its records are then found without a model."""

    async def scenario() -> tuple[int, LlmStatistics, int, list[str | None]]:
        async with simulated_daemon(llm=Model(say_it_twice), config=a_config(daily_calls=daily_calls)) as services:
            record_count = len(await learn(services, 1))
            status = await services.health.status()
            return record_count, status.llm, status.waiting.event_count, [each.problem for each in status.projects]

    record_count, llm, waiting, problems = simulate(scenario)

    assert llm.usage.calls == calls, "where there is no limit, the judge is asked, twice, since it makes no sense"
    assert (record_count, waiting, problems) == (2, 0, [None])
