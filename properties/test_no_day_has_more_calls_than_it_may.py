"""With any results of a model's calls, the day's limit holds, each call is counted once, and the store agrees."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import trio
from hypothesis import strategies as st

from kiro_learn.actors.llm_use import LlmQuota
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import BudgetSpent, LlmError, StorageUnavailable
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.pipelines.learn.asking import MeteredLlm
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.testing.daemon import simulated_world
from kiro_learn.testing.simulation import EPOCH, scheduled
from kiro_learn.testing.storage import InMemoryStorage

Fate = Literal["answers", "refuses", "hangs", "is left"]
FATES: tuple[Fate, ...] = ("answers", "refuses", "hangs", "is left")
ANSWER = "four"


class FatedModel:
    """A model that does with each prompt what the prompt says."""

    strategy = MODEL_STRATEGY
    name = "fated"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def complete(self, prompt: str) -> str:
        self.asked.append(prompt)
        await trio.sleep(1)
        if prompt == "refuses":
            raise LlmError("no")
        if prompt != "answers":
            await trio.sleep_forever()
        return ANSWER


@scheduled(
    fates=st.lists(st.tuples(st.sampled_from(FATES), st.integers(0, 3), st.integers(0, 1)), max_size=8),
    limit=st.integers(0, 5),
    broken_at=st.none() | st.integers(0, 3),
)
async def test_no_day_has_more_calls_than_it_may(
    fates: list[tuple[Fate, int, int]], limit: int, broken_at: int | None
) -> None:
    model, storage = FatedModel(), InMemoryStorage()
    refused: list[str] = []
    writer = StorageActor(storage, batch_count=4)
    ledger = LlmQuota(storage, writer, simulated_world(), daily_calls=limit)

    async def call(fate: Fate, starts_after: int, project: int) -> None:
        await trio.sleep(starts_after)
        with suppress(LlmError, trio.TooSlowError), trio.move_on_after(5 if fate == "is left" else 100):
            try:
                await MeteredLlm(ledger).ask(namespace_of("ada", str(project) * 64), model, fate, seconds=10)
            except BudgetSpent:
                refused.append(fate)

    async def break_store() -> None:
        if broken_at is not None:
            await trio.sleep(broken_at)
            storage.fail_next_write(StorageUnavailable("the store"))

    async with supervised(writer), supervised(ledger), trio.open_nursery() as nursery:
        nursery.start_soon(break_store)
        for each in fates:
            nursery.start_soon(call, *each)

    kept = await storage.list_llm_usage(since=EPOCH.date())
    usage = ledger.statistics()
    assert len(model.asked) == (min(limit, len(fates)) if limit else len(fates))
    assert sorted(model.asked + refused) == sorted(fate for fate, _, _ in fates)
    assert (usage.calls, usage.failures) == (len(model.asked), sum(fate != "answers" for fate in model.asked))
    assert usage.characters_in == sum(map(len, model.asked))
    assert usage.characters_out == model.asked.count("answers") * len(ANSWER)
    assert sum(each.call_count for each in kept) == usage.calls
    assert sum(each.characters_out for each in kept) == usage.characters_out
