"""Background work waits while several prompts do, but not for ever."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import attrs
import pytest
import trio

from kiro_learn.actors.embedder import Embedder, EmbeddingModels
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import embedded_text
from kiro_learn.model.vectors import Parts
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.runtime.admission import CROWD, PATIENCE_SECONDS, PromptPriority
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage


def waited_for(prompt_count: int, *, until: float = 60.0) -> float:
    """How long work waits for so many prompts, all of which end then."""

    async def scenario() -> float:
        way = PromptPriority()
        began = trio.current_time()

        async def answer() -> None:
            with way.prompt():
                await trio.sleep(until)

        async with trio.open_nursery() as nursery:
            for _ in range(prompt_count):
                nursery.start_soon(answer)
            await trio.testing.wait_all_tasks_blocked()
            await way.give_way()
            return trio.current_time() - began

    return simulate(scenario)


def test_one_prompt_holds_nothing_up() -> None:
    assert waited_for(CROWD - 1) == 0


def test_work_stands_aside_until_the_crowd_is_gone() -> None:
    assert waited_for(CROWD, until=0.25) == 0.25
    assert waited_for(CROWD + 5, until=0.25) == 0.25


def test_work_goes_on_however_many_come() -> None:
    assert waited_for(CROWD, until=60) == PATIENCE_SECONDS


def test_one_crowd_after_another_is_given_way_to() -> None:
    async def scenario() -> list[float]:
        way = PromptPriority()
        waits = []
        for seconds in (0.25, 0.5):
            with ExitStack() as crowd:
                for _ in range(CROWD):
                    crowd.enter_context(way.prompt())
                with trio.move_on_after(seconds):
                    await way.give_way()
                    raise AssertionError("it did not stand aside")
            began = trio.current_time()
            await way.give_way()
            waits.append(trio.current_time() - began)
        return waits

    assert simulate(scenario) == [0, 0]


class Recorder(HashEmbedder):
    """Notes when it embedded something that no prompt waits for, and takes its time."""

    def __init__(self, *, seconds: float = 0.0) -> None:
        super().__init__()
        self.embedded_ats: dict[str, float] = {}
        self._seconds = seconds

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        self.embedded_ats |= dict.fromkeys(texts, trio.current_time())
        await trio.sleep(self._seconds)
        return await super().embed_parts(texts)


def test_a_memory_is_embedded_once_the_prompts_before_it_are_answered_but_one() -> None:
    async def scenario() -> float:
        model, storage = Recorder(), InMemoryStorage()
        storage.words_seconds = 0.05
        async with simulated_daemon(storage=storage, model=model) as services, trio.open_nursery() as nursery:
            await trio.sleep(1)
            began = trio.current_time()
            for _ in range(CROWD + 1):
                nursery.start_soon(services.recall.answer, NAMESPACE, TextBody("why does the cache expire"))
            await trio.testing.wait_all_tasks_blocked()
            await services.remember.put(a_record(1))
            await trio.sleep(1)
            return model.embedded_ats[embedded_text(a_record(1))] - began

    assert simulate(scenario) == pytest.approx(0.1, abs=0.01)


def test_passages_are_embedded_once_the_last_prompt_is_answered() -> None:
    """Without them a memory is found all the same; only what is told of it is chosen by words."""

    async def scenario() -> tuple[float, float]:
        model, storage = Recorder(), InMemoryStorage()
        storage.words_seconds = 0.05
        async with simulated_daemon(storage=storage, model=model) as services, trio.open_nursery() as nursery:
            await trio.sleep(1)
            began = trio.current_time()
            nursery.start_soon(services.recall.answer, NAMESPACE, TextBody("why does the cache expire"))
            await trio.testing.wait_all_tasks_blocked()
            await services.remember.put(a_record(1))
            await trio.sleep(1)
            texts = (embedded_text(a_record(1)), passages_of(a_record(1))[0].text)
            whole, passage = (model.embedded_ats[text] - began for text in texts)
            return whole, passage

    whole, passage = simulate(scenario)
    assert whole == pytest.approx(0, abs=0.01)
    assert passage == pytest.approx(0.05, abs=0.01)


def test_other_texts_are_embedded_between_two_passages() -> None:
    async def scenario() -> float:
        storage = InMemoryStorage()
        models = EmbeddingModels(
            Recorder(seconds=1.0),
            storage=storage,
            writer=StorageActor(storage, batch_count=1),
            open_model=lambda _: HashEmbedder(),
        )
        embedder = Embedder(models, enabled=True, prompt_priority=PromptPriority())
        async with trio.open_nursery() as nursery:
            await nursery.start(embedder.run)
            nursery.start_soon(embedder.embed_passages, [f"passage {number}" for number in range(64)])
            await trio.sleep(5.5)
            began = trio.current_time()
            await embedder.embed_texts(["what is learned now"])
            nursery.cancel_scope.cancel()
        return trio.current_time() - began

    assert simulate(scenario) == pytest.approx(1.5)


def test_a_new_memory_is_embedded_before_the_passages_of_more_than_one_other() -> None:
    facts = tuple(f"fact {number} {'word ' * 55}" for number in range(20))
    waiting = [attrs.evolve(a_record(number), facts=facts) for number in range(1, 5)]

    async def scenario() -> float:
        model = Recorder(seconds=1.0)
        async with simulated_daemon(model=model) as services:
            for record in waiting:
                await services.remember.put(record)
            await trio.sleep(20)
            began = trio.current_time()
            await services.remember.put(a_record(9))
            await trio.sleep(120)
            return model.embedded_ats[embedded_text(a_record(9))] - began

    assert 15 < len(passages_of(waiting[0])) < 25
    assert simulate(scenario) < 25
