"""Learning on demand, and the errors if it cannot be done."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
import trio

from kiro_learn.config import Config, LearningConfig, ReconciliationConfig
from kiro_learn.errors import LlmError, UnknownProject
from kiro_learn.model.namespace import project_at, project_id_in
from kiro_learn.services.learn import EmbeddingState, ProjectFlushed
from kiro_learn.testing.daemon import NAMESPACE, Letter, Letterbox, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate

PROJECT = project_id_in(NAMESPACE)

APART = ReconciliationConfig(enabled=False)
"""Merges nothing: the scripted learner's records are the same for every batch."""


def failing(times: int) -> ScriptedLlm:
    failures = iter(range(times))

    def script(prompt: str) -> str:
        if next(failures, None) is not None:
            raise LlmError("out of sorts")
        return a_record_per_event(prompt)

    return ScriptedLlm(script)


def test_a_flush_learns_all_that_waits_and_stores_its_vectors() -> None:
    async def scenario() -> tuple[ProjectFlushed, float, float]:
        async with simulated_daemon() as services:
            for number in range(20):
                await services.capture.take(an_event(number))
            flushed = await services.learn.flush(PROJECT)
            state = await services.learn.embedding_state()
            return flushed, state.percentage, trio.current_time()

    flushed, percentage, elapsed = simulate(scenario)

    assert flushed == ProjectFlushed(event_count=20, record_count=20, parked_count=0)
    assert percentage == 100.0
    assert elapsed < 30, "a flush does not wait for the idle timer"


def test_a_flush_takes_in_what_hooks_have_put_aside() -> None:
    async def scenario() -> ProjectFlushed:
        box = Letterbox()
        async with simulated_daemon(hook_spool=box) as services:
            payload = b'{"hook_event_name": "userPromptSubmit", "cwd": "/w", "session_id": "s", "prompt": "late"}'
            await trio.sleep(1)
            box.letters.append(Letter("kiro-cli", {"X-Hook-Event-Id": f"01{7:024d}"}, payload))
            return await services.learn.flush(project_at(PurePosixPath("/w"), actor_id="ada").project_id)

    assert simulate(scenario).event_count == 1


def test_a_flush_of_more_than_one_batch_goes_on_to_the_end() -> None:
    async def scenario() -> tuple[int, int]:
        config = Config(learning=LearningConfig(extraction_bytes=100), reconciliation=APART)
        async with simulated_daemon(config=config) as services:
            for number in range(20):
                await services.capture.take(an_event(number))
            parked = (await services.learn.flush(PROJECT)).parked_count
            return parked, (await services.queries.records(namespace=NAMESPACE, limit=10, offset=0)).total

    assert simulate(scenario) == (0, 20)


def test_a_flush_of_an_unknown_project_is_refused() -> None:
    async def scenario() -> None:
        async with simulated_daemon() as services:
            await services.learn.flush("nobody")

    with pytest.RaisesGroup(UnknownProject, flatten_subgroups=True):
        simulate(scenario)


def test_a_flush_that_cannot_learn_says_why_and_loses_nothing() -> None:
    async def scenario() -> tuple[str, int, int]:
        async with simulated_daemon(llm=failing(3)) as services:
            await services.capture.take(an_event(1))
            try:
                await services.learn.flush(PROJECT)
            except LlmError as error:
                problem = str(error)
            waiting = (await services.health.status()).waiting.event_count
            again = await services.learn.flush(PROJECT)
            return problem, waiting, again.record_count

    assert simulate(scenario) == ("out of sorts", 1, 1)


def test_one_attempt_that_fails_is_followed_by_another() -> None:
    async def scenario() -> int:
        async with simulated_daemon(llm=failing(2)) as services:
            await services.capture.take(an_event(1))
            return (await services.learn.flush(PROJECT)).record_count

    assert simulate(scenario) == 1


def test_a_learner_that_hangs_is_given_up_and_tried_again_without_a_new_event() -> None:
    llm = ScriptedLlm(a_record_per_event)

    async def scenario() -> tuple[str | None, int]:
        async with simulated_daemon(llm=llm) as services:
            llm.gate = trio.Event()
            await services.capture.take(an_event(1))
            await trio.sleep(95)
            (project,) = (await services.health.status()).projects
            llm.gate.set()
            await trio.sleep(60)
            return project.problem, (await services.queries.records(namespace=NAMESPACE, limit=10, offset=0)).total

    assert simulate(scenario) == ("the learner took too long", 1)


def test_a_project_that_fell_quiet_retires_and_comes_back() -> None:
    async def scenario() -> tuple[int, int, int]:
        async with simulated_daemon() as services:
            await services.capture.take(an_event(1))
            await trio.sleep(2000)
            quiet = len((await services.health.status()).projects)
            await services.capture.take(an_event(2))
            awake = len((await services.health.status()).projects)
            await trio.sleep(60)
            return quiet, awake, (await services.queries.records(namespace=NAMESPACE, limit=10, offset=0)).total

    assert simulate(scenario) == (0, 1, 2)


@pytest.mark.parametrize(
    ("embedded", "total", "percentage"), [(298, 342, 87.1), (0, 0, 100.0), (99_999, 100_000, 99.9), (1, 1, 100.0)]
)
def test_a_percentage_is_a_hundred_only_when_nothing_is_left(embedded: int, total: int, percentage: float) -> None:
    assert EmbeddingState(total=total, embedded=embedded, set_aside=0).percentage == percentage
