"""A relearning goes on between its project's runs, and may be stopped anywhere; in simulated time."""

from __future__ import annotations

import re
from functools import partial

import attrs
import pytest
import trio

from kiro_learn.config import CHARACTERS_PER_TOKEN, Config, LearningConfig, LlmConfig
from kiro_learn.errors import ActorStopped
from kiro_learn.learning.extraction.splitting import INSTRUCTIONS_CHARACTERS
from kiro_learn.model.namespace import namespace_of
from kiro_learn.services.learn import ProjectRelearned
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.services.relearning_rig import (
    PROJECT,
    BuiltIn,
    Model,
    a_past,
    a_turn,
    broken,
    each_answer,
    record_of,
    settle,
    shown_texts,
    titles,
    weak_record,
)


class SlowModel(Model):
    """A model that takes time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def complete(self, prompt: str) -> str:
        await trio.sleep(self._seconds)
        return await super().complete(prompt)


def each_text(prompt: str) -> str:
    """An answer with one record for each event that is not context, named by the first character of its text."""
    numbers = re.findall(r'number="(\d+)"(?![^>]*context)', prompt)
    return "".join(
        f'<memory_record type="discovery" events="{number}"><title>about {text[:1]}</title><summary>it</summary>'
        "</memory_record>"
        for number, text in zip(numbers, shown_texts(prompt), strict=True)
    )


ONE_TURN = LearningConfig(extraction_bytes=90)
"""Settings with which a batch is one turn."""


def test_what_is_forgotten_while_the_model_thinks_is_not_learned() -> None:
    """The model has seen the event by then, so it is asked again without it."""

    async def scenario() -> None:
        storage, model = await a_past(2), Model()
        model.gate = trio.Event()
        async with simulated_daemon(storage=storage, llm=model) as services, trio.open_nursery() as nursery:
            relearned: list[ProjectRelearned] = []

            async def relearn() -> None:
                relearned.append(await services.relearn.relearn(PROJECT, since=None))

            nursery.start_soon(relearn)
            await trio.sleep(1)
            await services.forget.forget(weak_record(1).record_id)
            model.gate.set()
        assert [each.replaced for each in relearned] == [1]
        assert await titles(storage) == ["better answer 0"]
        assert model.shown == ["prompt 0", "answer 0", "prompt 1", "answer 1", "prompt 0", "answer 0"]

    simulate(scenario)


def test_what_is_forgotten_before_its_batch_comes_is_not_shown_to_the_model() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage, model = await a_past(3), SlowModel(10)
        async with (
            simulated_daemon(storage=storage, llm=model, config=Config(learning=ONE_TURN)) as services,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(services.relearn.relearn, PROJECT, since=None))
            await trio.sleep(1)
            await services.forget.forget(weak_record(1).record_id)
        return model.shown, await titles(storage)

    assert simulate(scenario) == (
        ["prompt 0", "answer 0", "prompt 2", "answer 2"],
        ["better answer 0", "better answer 2"],
    )


def test_what_expires_before_its_batch_comes_is_not_shown_to_the_model_and_its_memory_stays() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage, model = await a_past(3), SlowModel(10)
        async with (
            simulated_daemon(storage=storage, llm=model, config=Config(learning=ONE_TURN)) as services,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(services.relearn.relearn, PROJECT, since=None))
            await trio.sleep(1)
            expired = [event.event_id for event in a_turn(1)]
            await transact_one(storage, lambda transaction: transaction.expire_events(NAMESPACE, expired))
        return model.shown, await titles(storage)

    assert simulate(scenario) == (
        ["prompt 0", "answer 0", "prompt 2", "answer 2"],
        ["better answer 0", "better answer 2", "weak 1"],
    )


def test_a_relearning_that_crashes_is_given_up_and_the_project_goes_on() -> None:
    def crash(prompt: str) -> str:
        if "answer 0" in prompt:
            raise RuntimeError("nobody foresaw it")
        return each_answer(prompt)

    async def scenario() -> None:
        storage = await a_past(1)
        async with simulated_daemon(storage=storage, llm=Model(crash)) as services:
            with pytest.raises(ActorStopped):
                await services.relearn.relearn(PROJECT, since=None)
            for event in a_turn(7):
                await services.capture.take(event)
            assert (await services.learn.flush(PROJECT)).record_count == 1
        assert await titles(storage) == ["better answer 7", "weak 0"]

    simulate(scenario)


def test_a_model_that_fails_half_way_leaves_what_was_done_and_the_rest_can_be_done_later() -> None:
    async def scenario() -> None:
        storage = await a_past(3)
        model = Model(lambda prompt: broken(prompt) if "answer 1" in prompt else each_answer(prompt))
        config = Config(learning=ONE_TURN)
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            first = await services.relearn.relearn(PROJECT, since=None)
            assert (first.batches, first.replaced, first.left) == (1, 1, 2)
            assert (first.stopped_because, len(model.asked)) == ("out of sorts", 4)
            assert await titles(storage) == ["better answer 0", "weak 1", "weak 2"]
        better = Model()
        async with simulated_daemon(storage=storage, llm=better, config=config) as services:
            second = await services.relearn.relearn(PROJECT, since=None)
            assert (second.batches, second.replaced, second.left) == (2, 2, 0)
            assert better.shown == ["prompt 1", "answer 1", "prompt 2", "answer 2"]

    simulate(scenario)


def test_new_memories_are_never_compared_with_those_that_are_to_make_way() -> None:
    async def scenario() -> None:
        model = Model()
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, llm=BuiltIn()) as services:
            for number in range(2):
                for event in a_turn(number):
                    await services.capture.take(event)
            await services.learn.flush(PROJECT)
        config = Config(learning=ONE_TURN)
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            weak = [
                record.record_id
                for record in (await services.queries.records(namespace=NAMESPACE, limit=9, offset=0)).items
            ]
            await services.relearn.relearn(PROJECT, since=None)
            assert [record_id for record_id in weak for prompt in model.judged if record_id in prompt] == []

    simulate(scenario)


def test_a_daemon_that_stops_does_not_wait_for_the_rest() -> None:
    async def scenario() -> None:
        storage, model = await a_past(3), SlowModel(2)
        config = Config(learning=ONE_TURN)

        async def relearn() -> None:
            with pytest.raises(ActorStopped):
                await services.relearn.relearn(PROJECT, since=None)

        async with (
            trio.open_nursery() as nursery,
            simulated_daemon(storage=storage, llm=model, config=config) as services,
        ):
            nursery.start_soon(relearn)
            await trio.sleep(1)
        assert await titles(storage) == ["better answer 0", "weak 1", "weak 2"]

    simulate(scenario)


def test_what_happens_meanwhile_is_learned_between_two_batches() -> None:
    async def scenario() -> list[str]:
        storage, model = await a_past(3), SlowModel(20)
        config = Config(learning=LearningConfig(extraction_bytes=90, buffer_idle_seconds=5))
        async with (
            simulated_daemon(storage=storage, llm=model, config=config) as services,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(services.relearn.relearn, PROJECT, since=None))
            await trio.sleep(1)
            for event in a_turn(7):
                await services.capture.take(event)
        return model.shown

    shown = simulate(scenario)
    assert shown.index("answer 0") < shown.index("answer 7") < shown.index("answer 1") < shown.index("answer 2")


def test_another_project_has_the_run_slot_between_two_batches() -> None:
    async def scenario() -> list[str]:
        storage, model = await a_past(3), SlowModel(20)
        config = Config(learning=LearningConfig(extraction_bytes=90, buffer_idle_seconds=5, run_slots=1))
        async with (
            simulated_daemon(storage=storage, llm=model, config=config) as services,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(services.relearn.relearn, PROJECT, since=None))
            await trio.sleep(1)
            for event in a_turn(7, namespace=namespace_of("ada", "b" * 64)):
                await services.capture.take(event)
        return model.shown

    shown = simulate(scenario)
    assert shown.index("answer 0") < shown.index("answer 7") < shown.index("answer 1")


def test_the_status_says_how_much_is_left() -> None:
    async def scenario() -> list[int]:
        storage = await a_past(3)
        seen = []
        config = Config(learning=ONE_TURN)
        async with (
            simulated_daemon(storage=storage, llm=SlowModel(10), config=config) as services,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(services.relearn.relearn, PROJECT, since=None))
            for _ in range(4):
                await trio.sleep(9)
                seen += [each.relearning_event_count for each in (await services.health.status()).projects]
        return seen

    assert simulate(scenario) == [6, 4, 2, 0]


def test_a_turn_that_does_not_go_into_one_prompt_is_learned_in_parts_and_its_memory_makes_way_with_the_last() -> None:
    async def scenario() -> None:
        storage, model = InMemoryStorage(), Model(each_text)
        texts = [f"{number} " + "word " * 150 for number in range(5)]
        events = [an_event(number, text=text) for number, text in enumerate(texts)]
        weak = attrs.evolve(weak_record(0), source_event_ids=tuple(event.event_id for event in events))
        await settle(storage, events, [weak])
        config = Config(llm=LlmConfig(prompt_tokens=(INSTRUCTIONS_CHARACTERS + 2000) // CHARACTERS_PER_TOKEN))
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
        assert relearned.batches > 1
        assert (relearned.events, relearned.replaced, relearned.left) == (5, 1, 0)
        assert [text[:1] for text in model.shown] == list("01234")
        assert all('context="true"' in prompt for prompt in model.asked[1:]), "the rest is shown with what was asked"
        last = await record_of(storage, "about 4")
        assert [change.replaced for change in await storage.list_replacements(last)] == [(weak,)]

    simulate(scenario)


def test_who_asks_while_it_is_being_done_has_nothing_done_twice() -> None:
    async def scenario() -> tuple[list[str], list[int]]:
        storage, model = await a_past(3), SlowModel(10)
        replaced = []

        async def relearn() -> None:
            replaced.append((await services.relearn.relearn(PROJECT, since=None)).replaced)

        async with (
            simulated_daemon(storage=storage, llm=model, config=Config(learning=ONE_TURN)) as services,
            trio.open_nursery() as nursery,
        ):
            for _ in range(2):
                nursery.start_soon(relearn)
        return model.shown, replaced

    shown, replaced = simulate(scenario)
    assert shown == [text for number in range(3) for text in (f"prompt {number}", f"answer {number}")]
    assert replaced == [3, 0]
