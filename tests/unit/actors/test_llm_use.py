"""The built-in learner stands in for a model that keeps failing: in simulated time, in the whole daemon."""

from __future__ import annotations

import pytest
import trio

from kiro_learn.actors.llm_use import LlmFailover, LlmQuota, LlmStatistics
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import AgentWantsLogin, LlmError, StorageUnavailable
from kiro_learn.model.buffer import CircuitBreaker
from kiro_learn.model.namespace import Namespace, namespace_of, project_id_in
from kiro_learn.ports.models import LlmChoice
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon, simulated_world
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage

PROJECT = project_id_in(NAMESPACE)
CONFIG = Config(learning=LearningConfig(breaker_failures=2, breaker_cooldown_seconds=600, retry_seconds=10))


class Patient(ScriptedLlm):
    """A model that fails in a given way while ``is_sick``."""

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


async def learn(services: Services, number: int, *, after_seconds: float) -> list[str]:
    """Take one event, wait, and answer the strategies of all records, oldest first."""
    await services.capture.take(an_event(number))
    await trio.sleep(after_seconds)
    page = await services.queries.records(namespace=NAMESPACE, limit=100, offset=0)
    return [record.strategy for record in reversed(page.items)]


async def who_learns(services: Services) -> LlmStatistics:
    return (await services.health.status()).llm


@pytest.mark.parametrize("hangs", [False, True])
def test_the_stand_in_takes_over_when_the_model_has_failed_run_after_run(hangs: bool) -> None:
    model = Patient(hangs=hangs)

    async def scenario() -> tuple[list[str], LlmStatistics, list[str | None]]:
        async with simulated_daemon(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as services:
            strategies = await learn(services, 1, after_seconds=300)
            return (
                strategies,
                await who_learns(services),
                [p.problem for p in (await services.health.status()).projects],
            )

    strategies, llm, problems = simulate(scenario)

    assert strategies == ["scripted"], "the second run fails too, and is finished by the stand-in"
    assert (llm.strategy, llm.stands_in_for) == ("scripted", "patient")
    assert llm.problem == ("the learner took too long" if hangs else "out of sorts")
    assert problems == [None], "the project itself is learning"


def test_the_model_is_not_asked_again_before_the_cooldown_and_then_takes_over() -> None:
    model = Patient()

    async def scenario() -> tuple[list[str], int, int, LlmStatistics]:
        async with simulated_daemon(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as services:
            await learn(services, 1, after_seconds=120)
            asked_before = model.asked_count
            await learn(services, 2, after_seconds=120)
            asked_meanwhile = model.asked_count - asked_before
            model.is_sick = False
            await learn(services, 3, after_seconds=700)
            strategies = await learn(services, 4, after_seconds=120)
            return strategies, asked_before, asked_meanwhile, await who_learns(services)

    strategies, asked_before, asked_meanwhile, llm = simulate(scenario)

    assert (asked_before, asked_meanwhile) == (8, 0), "two runs of three attempts and a health check each"
    assert strategies == ["scripted", "scripted", "scripted", "llm-summary"]
    assert (llm.strategy, llm.stands_in_for, llm.problem) == ("llm-summary", None, None)


def test_a_model_that_failed_is_told_to_fail_until_it_has_learned_again() -> None:
    model = Patient()

    async def scenario() -> list[tuple[str, str | None]]:
        async with simulated_daemon(llm=model, stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as services:
            await learn(services, 1, after_seconds=120)
            await trio.sleep(10 * CONFIG.learning.breaker_cooldown_seconds)
            quiet = await who_learns(services)
            model.is_sick = False
            await learn(services, 2, after_seconds=120)
            well = await who_learns(services)
            return [(llm.strategy, llm.stands_in_for) for llm in (quiet, well)]

    assert simulate(scenario) == [("scripted", "patient"), ("llm-summary", None)]


def test_without_a_stand_in_what_happened_waits() -> None:
    model = Patient()

    async def scenario() -> tuple[list[str], int, LlmStatistics, list[str]]:
        async with simulated_daemon(llm=model, config=CONFIG) as services:
            none = await learn(services, 1, after_seconds=120)
            waiting = (await services.health.status()).waiting.event_count
            llm = await who_learns(services)
            model.is_sick = False
            await trio.sleep(700)
            return none, waiting, llm, await learn(services, 2, after_seconds=120)

    none, waiting, llm, strategies = simulate(scenario)

    assert (none, waiting) == ([], 1)
    assert (llm.strategy, llm.stands_in_for, llm.problem) == ("llm-summary", None, "out of sorts")
    assert strategies == ["llm-summary", "llm-summary"]


def test_an_agent_that_wants_a_login_is_told_with_the_command_that_does_it() -> None:
    def logged_out(_prompt: str) -> str:
        raise AgentWantsLogin("codex-acp", "codex login")

    model = ScriptedLlm(logged_out)
    model.strategy = "llm-summary"

    async def scenario() -> LlmStatistics:
        async with simulated_daemon(llm=model, config=CONFIG) as services:
            await learn(services, 1, after_seconds=120)
            return await who_learns(services)

    llm = simulate(scenario)
    assert (llm.problem, llm.login) == ("the agent codex-acp wants you to log in: codex login", "codex login")


def test_a_stand_in_that_fails_leaves_it_waiting() -> None:
    def refuse(_prompt: str) -> str:
        raise LlmError("neither")

    async def scenario() -> tuple[list[str], int]:
        async with simulated_daemon(llm=Patient(), stand_in=ScriptedLlm(refuse), config=CONFIG) as services:
            none = await learn(services, 1, after_seconds=300)
            return none, (await services.health.status()).waiting.event_count

    assert simulate(scenario) == ([], 1)


def test_one_failure_is_no_reason_to_ask_another() -> None:
    async def scenario() -> str:
        async with simulated_daemon(llm=Patient(), stand_in=ScriptedLlm(a_record_per_event), config=CONFIG) as services:
            await services.capture.take(an_event(1))
            with pytest.raises(LlmError, match="out of sorts"):
                await services.learn.flush(PROJECT)
            return (await who_learns(services)).strategy

    assert simulate(scenario) == "llm-summary"


OTHER = namespace_of("ada", "b" * 64)


class SickForOne(Patient):
    """A model that hangs at any prompt with the path of one project."""

    def __init__(self) -> None:
        super().__init__(hangs=True)
        self.asked = trio.Event()
        self.asked_by_other = 0

    async def wait_asked(self, *, patience_seconds: float) -> None:
        """Wait until the model is asked once more."""
        self.asked = trio.Event()
        with trio.fail_after(patience_seconds):
            await self.asked.wait()

    async def complete(self, prompt: str) -> str:
        if f'<batch project="/home/{project_id_in(OTHER)}">' in prompt:
            self.asked_by_other += 1
            return a_record_per_event(prompt)
        self.asked.set()
        return await super().complete(prompt)


async def all_strategies(services: Services, namespace: Namespace | None = None) -> list[str]:
    page = await services.queries.records(namespace=namespace, limit=100, offset=0)
    return sorted(record.strategy for record in page.items)


@pytest.mark.parametrize("has_stand_in", [False, True])
def test_a_model_that_is_being_tried_in_one_project_learns_in_the_other(has_stand_in: bool) -> None:
    """The first project's probe is under way, and about to fail, when the second has something to learn."""
    model = SickForOne()

    async def scenario() -> tuple[list[str], list[str | None], int]:
        stand_in = ScriptedLlm(a_record_per_event) if has_stand_in else None
        async with simulated_daemon(llm=model, stand_in=stand_in, config=CONFIG) as services:
            await learn(services, 1, after_seconds=900)
            await services.capture.take(an_event(2))
            await model.wait_asked(patience_seconds=2000)
            await services.capture.take(an_event(3, namespace=OTHER))
            await trio.sleep(120)
            (other,) = [each for each in (await services.health.status()).projects if each.namespace == OTHER]
            return await all_strategies(services, OTHER), [other.problem], other.failure_count

    assert simulate(scenario) == (["llm-summary"], [None], 0)
    assert model.asked_by_other == 1


def test_a_model_that_failed_in_a_project_and_worked_since_in_another_is_not_told_to_fail() -> None:
    async def scenario() -> list[str | None]:
        stand_in = ScriptedLlm(a_record_per_event)
        async with simulated_daemon(llm=SickForOne(), stand_in=stand_in, config=CONFIG) as services:
            await learn(services, 1, after_seconds=2000)
            before = await who_learns(services)
            await services.capture.take(an_event(3, namespace=OTHER))
            await trio.sleep(120)
            return [before.stands_in_for, (await who_learns(services)).stands_in_for]

    assert simulate(scenario) == ["patient", None]


def test_a_model_that_was_sick_is_first_asked_something_harmless_and_nothing_else_if_it_fails() -> None:
    model = Patient()

    async def scenario() -> tuple[int, int, list[str]]:
        async with simulated_daemon(llm=model, config=CONFIG) as services:
            await learn(services, 1, after_seconds=120)
            asked = model.asked_count
            await trio.sleep(24 * 3600)
            asked_in_a_day, model.asked_count, model.is_sick = model.asked_count - asked, 0, False
            await trio.sleep(610)
            return asked_in_a_day, model.asked_count, await all_strategies(services)

    asked_in_a_day, asked_when_well, strategies = simulate(scenario)
    assert asked_in_a_day <= 24 * 6
    assert (asked_when_well, strategies) == (2, ["llm-summary"])


def test_a_trial_that_is_cut_short_leaves_the_model_to_the_next() -> None:
    storage = InMemoryStorage()
    switch = LlmFailover(
        LlmChoice(preferred=Patient(), built_in=Patient()),
        CircuitBreaker(failure_threshold=1, cooldown_seconds=1),
        LlmQuota(storage, StorageActor(storage, batch_count=1), simulated_world(), daily_calls=0),
    )

    async def scenario() -> list[bool]:
        with pytest.raises(LlmError), switch.asking(NAMESPACE):
            raise LlmError("out of sorts")
        await trio.sleep(2)
        with trio.move_on_after(1), switch.asking(NAMESPACE):
            await trio.sleep_forever()
        return [switch.is_on_trial(NAMESPACE), switch.is_on_trial(OTHER)]

    assert simulate(scenario) == [True, False]


def test_what_the_last_write_could_not_keep_of_the_calls_is_written_at_the_end() -> None:
    async def scenario() -> list[tuple[int, int]]:
        storage = InMemoryStorage()
        writer = StorageActor(storage, batch_count=1)
        quota = LlmQuota(storage, writer, simulated_world(), daily_calls=0)
        async with supervised(writer), supervised(quota):
            call = quota.began(NAMESPACE, "what?")
            await trio.sleep(1)
            storage.fail_next_write(StorageUnavailable("the store"))
            quota.ended(call, "that")
        return [(each.call_count, each.characters_out) for each in await storage.list_llm_usage(since=EPOCH.date())]

    assert simulate(scenario) == [(1, 4)]
