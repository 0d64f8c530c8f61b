"""A judge that is slow, answers nonsense, or may not be asked; in simulated time."""

from __future__ import annotations

import pytest
import structlog
import trio

from kiro_learn.config import Config, LlmConfig
from kiro_learn.errors import LlmError
from kiro_learn.testing.simulation import simulate
from tests.unit.pipelines.learn.learning_rig import (
    JudgingModel,
    a_merge,
    a_rig,
    keep_separate,
    merge_all,
    shown_ids,
)

CACHE = "the cache is keyed by commit and kept on disk"
ALSO_CACHE = "the cache is keyed by commit and kept on ssd"
STILL_CACHE = "the cache is keyed by commit and kept on tape"


def refuse(_prompt: str) -> str:
    raise LlmError("out of sorts")


def test_an_answer_that_is_no_verdict_is_asked_for_once_more() -> None:
    answers = iter(["Well.", keep_separate("")])

    async def scenario() -> tuple[int, int]:
        model = JudgingModel(lambda _prompt: next(answers))
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return len(model.questions), rig.breaker.failure_count

    assert simulate(scenario) == (2, 0)


class SleepyJudge(JudgingModel):
    """A model that learns, but never answers a request to judge."""

    async def complete(self, prompt: str) -> str:
        answer = await super().complete(prompt)
        if "<reconciliation_request>\n" in prompt:
            await trio.sleep_forever()
        return answer


def test_a_judge_that_takes_too_long_is_not_asked_again() -> None:
    async def scenario() -> tuple[float, int, list[str]]:
        async with a_rig(SleepyJudge(keep_separate)) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return trio.current_time(), rig.breaker.failure_count, await rig.titles()

    took, failure_count, titles = simulate(scenario)
    assert took == pytest.approx(30)
    assert (failure_count, titles) == (1, [CACHE, ALSO_CACHE])


PAIRS = [(f"{word} " * 6 + "one", f"{word} " * 6 + "two") for word in ("amber", "birch", "cedar", "dogwood", "elm")]
TEXTS = [text for pair in PAIRS for text in pair]


def test_a_breaker_that_opens_on_the_way_lets_the_rest_through_unjudged() -> None:
    """With five clusters and a judge that hangs, the run waits three times 30 seconds, not five times."""

    async def scenario() -> None:
        model = SleepyJudge(keep_separate)
        async with a_rig(model) as rig:
            await rig.learn(*TEXTS)
            assert trio.current_time() == pytest.approx(90)
            assert (len(model.questions), rig.breaker.is_open) == (3, True)
            assert await rig.titles() == sorted(TEXTS)

    simulate(scenario)


def test_an_open_breaker_costs_one_run_without_a_judge_and_then_it_is_asked_again() -> None:
    async def scenario() -> None:
        model = JudgingModel(refuse)
        async with a_rig(model) as rig:
            await rig.learn(*TEXTS)
            asked = len(model.questions)
            await rig.learn(CACHE, ALSO_CACHE)
            assert (len(model.questions), rig.breaker.is_open) == (asked, False)
            model.judge = merge_all
            await rig.learn(STILL_CACHE)
            assert len(model.questions) == asked + 1
            assert "all of it" in await rig.titles()

    simulate(scenario)


def test_a_record_that_was_cited_and_is_unknown_is_passed_over_and_counted() -> None:
    async def scenario() -> list[str]:
        model = JudgingModel(lambda prompt: a_merge([*shown_ids(prompt), "mr_unknown"]))
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return await rig.titles()

    with structlog.testing.capture_logs() as logs:
        assert simulate(scenario) == ["all of it"]
    (warning,) = [line for line in logs if line["event"] == "reconciliation.unknown_cited"]
    assert warning["unknown_count"] == 1


def test_when_the_day_s_calls_are_used_up_the_rule_judges_and_the_breaker_does_not_mind() -> None:
    async def scenario() -> list[str]:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=Config(llm=LlmConfig(daily_calls=1))) as rig:
            await rig.learn(CACHE, CACHE, ALSO_CACHE)
            assert (model.questions, rig.breaker.failure_count) == ([], 0)
            return await rig.titles()

    assert simulate(scenario) == [CACHE, ALSO_CACHE]


class UsersWords(JudgingModel):
    """A model that learns each text as a person's statement."""

    def _answer(self, prompt: str) -> str:
        return super()._answer(prompt).replace("<memory_record ", '<memory_record origin="user" ')


def test_a_judge_that_tells_a_persons_rules_as_one_line_replaces_none() -> None:
    async def scenario() -> list[str]:
        async with a_rig(UsersWords(lambda prompt: a_merge(shown_ids(prompt), "there are preferences"))) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return await rig.titles()

    with structlog.testing.capture_logs() as logs:
        assert simulate(scenario) == [CACHE, ALSO_CACHE]
    assert [entry["kept_apart_count"] for entry in logs if entry["event"] == "reconciliation.lossy_merge"] == [2]


def test_a_judge_that_tells_a_persons_rules_whole_has_them_told_as_one() -> None:
    both = f"{CACHE}, and {ALSO_CACHE}"

    async def scenario() -> list[str]:
        async with a_rig(UsersWords(lambda prompt: a_merge(shown_ids(prompt), both))) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return await rig.titles()

    assert simulate(scenario) == [both]
