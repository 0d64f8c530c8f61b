"""A model that loops leaves only different memories, and not more than the limit."""

from __future__ import annotations

from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.testing.daemon import an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import simulate
from tests.unit.services.relearning_rig import PROJECT


class Looping(ScriptedLlm):
    strategy = MODEL_STRATEGY


def said(topic: str) -> str:
    return (
        f'<memory_record type="discovery" events="1"><title>About {topic}</title><summary>All of {topic}.</summary>'
        "</memory_record>"
    )


def learned(answer: str) -> tuple[int, str | None]:
    async def scenario() -> tuple[int, str | None]:
        async with simulated_daemon(llm=Looping(lambda _prompt: answer)) as services:
            await services.capture.take(an_event(1))
            await services.learn.flush(PROJECT)
            status = await services.health.status()
            return (await services.queries.stats(None)).total_memories, status.runs[0].problem

    return simulate(scenario)


def test_three_hundred_times_the_same_is_one_memory() -> None:
    assert learned(300 * said("the cache")) == (1, None)


def test_a_hundred_different_ones_are_as_many_as_there_may_be_and_the_status_says_so() -> None:
    count, problem = learned("".join(said(f"topic {number}") for number in range(100)))
    assert count == 64
    assert problem == "the answer had too many memories: the first 64 are kept, 36 are not"
