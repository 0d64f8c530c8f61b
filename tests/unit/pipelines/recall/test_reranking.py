"""A model that reads each memory beside the prompt may better the order; it may never cost the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from kiro_learn.actors.reranker import RerankerState
from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import RerankError
from kiro_learn.model.event import TextBody
from kiro_learn.model.retrieval import Report
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.reranking import LongestFirst
from kiro_learn.testing.simulation import simulate

QUESTION = TextBody("why does the token cache expire early")
FILLER = ("", " at night", " at night and in the morning", " on the second of three machines, as it was seen")


def report_of(
    model: LongestFirst | None,
    spoil: Callable[[LongestFirst], None] = lambda _: None,
    count: int = len(FILLER),
    **settings: int,
) -> Report:
    """How so many memories (at most four) are told, of which the ranking puts the shortest first."""

    async def scenario() -> Report:
        config = Config(recall=RecallConfig(**settings))  # type: ignore[arg-type]  # whole numbers all
        async with simulated_daemon(rerank_model=model, config=config) as services:
            for number, filler in enumerate(FILLER[:count]):
                await services.remember.put(a_record(number, "The token cache expires early", f"clock skew{filler}"))
            await trio.sleep(100)
            if model is not None:
                spoil(model)
            await services.recall.answer(NAMESPACE, QUESTION)
            if model is not None and model.gate is not None:
                model.gate.set()
            return services.retrievals.latest(namespace=None, limit=1)[0]

    return simulate(scenario)


def numbers(report: Report) -> list[int]:
    return [int(record.record_id[-1]) for record in report.records]


def test_the_order_is_that_of_the_model() -> None:
    assert numbers(report_of(LongestFirst())) == [3, 2, 1, 0]
    assert numbers(report_of(None)) != [3, 2, 1, 0]


def test_it_reads_the_first_so_many_and_the_others_follow() -> None:
    without = numbers(report_of(None))
    found = numbers(report_of(LongestFirst(), rerank_count=2))
    assert found == [*sorted(without[:2], reverse=True), *without[2:]]


@pytest.mark.parametrize(("count", "is_asked"), [(1, False), (2, True)])
def test_it_is_asked_once_there_is_an_order_to_choose(count: int, *, is_asked: bool) -> None:
    report = report_of(LongestFirst(), rerank_count=4, count=count)
    assert len(report.records) == count
    assert ("rerank" in report.stages_ms) is is_asked


def test_it_chooses_among_more_than_are_told() -> None:
    report = report_of(LongestFirst(), result_limit=1, rerank_count=4)
    assert numbers(report) == [3]
    assert report.left_out == {"behind": 3}


def hold(model: LongestFirst) -> None:
    model.gate = trio.Event()


def test_a_late_model_leaves_the_order_as_it_was_and_time_for_the_block() -> None:
    report = report_of(LongestFirst(), hold)
    assert numbers(report) == numbers(report_of(None))
    assert report.degraded == ("rerank: late",)
    assert report.context_bytes
    assert report.latency_ms == report.stages_ms["rerank"] == 450


@pytest.mark.parametrize(
    ("error", "said"),
    [(RerankError("out of sorts"), "out of sorts"), (ZeroDivisionError("a secret"), "ZeroDivisionError")],
)
def test_a_failing_model_leaves_the_order_as_it_was(error: Exception, said: str) -> None:
    def spoil(model: LongestFirst) -> None:
        model.fail_with = error

    report = report_of(LongestFirst(), spoil)
    assert numbers(report) == numbers(report_of(None))
    assert report.degraded == (f"rerank: {said}",)


class Unsound(LongestFirst):
    """Its scores are no numbers."""

    async def score(self, query: str, texts: object) -> list[float]:
        await trio.lowlevel.checkpoint()
        return [float("nan")] * 4


def test_scores_that_are_no_numbers_are_none() -> None:
    report = report_of(Unsound())
    assert numbers(report) == numbers(report_of(None))
    assert report.degraded == ("rerank: the rerank model gave no usable scores",)


@pytest.mark.parametrize("error", [RerankError("there is no model.onnx"), OSError("a disk")])
def test_a_model_that_cannot_be_loaded_is_off_and_the_status_says_so(error: Exception) -> None:
    model = LongestFirst()
    model.fail_with = error

    async def scenario() -> tuple[RerankerState, str | None, tuple[str, ...]]:
        async with simulated_daemon(rerank_model=model) as services:
            await trio.sleep(1)
            status = (await services.health.status()).reranker
            return status.state, status.problem, (await services.recall.answer(NAMESPACE, QUESTION)).degraded

    said = "there is no model.onnx" if isinstance(error, RerankError) else "OSError"
    assert simulate(scenario) == (RerankerState.FAILED, said, ())


def test_while_it_loads_prompts_are_answered_without() -> None:
    model = LongestFirst()
    hold(model)

    async def scenario() -> RerankerState:
        async with simulated_daemon(rerank_model=model) as services:
            await trio.sleep(1)
            assert (await services.recall.answer(NAMESPACE, QUESTION)).degraded == ()
            return (await services.health.status()).reranker.state

    assert simulate(scenario) is RerankerState.LOADING


def test_without_a_model_it_is_off() -> None:
    async def scenario() -> tuple[RerankerState, str | None]:
        async with simulated_daemon() as services:
            status = (await services.health.status()).reranker
            return status.state, status.model

    assert simulate(scenario) == (RerankerState.OFF, None)
