"""Work in a queue begins when the work before it has ended, or has taken long enough.

The daemon asks for a number of file descriptors, and connections may have a part of them.

A model's answer is parsed off the event loop: it may have millions of characters.

Background work waits while several prompts wait, but not for ever.
"""

from __future__ import annotations

import gc
import os
import resource
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeVar

import attrs
import pytest
import trio

from kiro_learn.actors.embedder import Embedder, EmbeddingModels
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.learning.reconciliation.plan import KeepSeparate
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import MemoryRecord, embedded_text
from kiro_learn.model.vectors import Parts
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.runtime.admission import (
    CROWD,
    PATIENCE_SECONDS,
    RESERVED,
    WANTED,
    AdmissionQueue,
    PromptPriority,
    Ticket,
    connections_for,
    count_open,
    raise_limit,
)
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.actors.patient import Patient, config, out_of_sorts, take
from tests.unit.pipelines.learn.learning_rig import JudgingModel, a_rig, keep_separate


def beginnings(*seconds: float, lease: float = 1.0, patience: float = 10.0) -> list[float]:
    """The times at which pieces of work that come together begin, if they take these seconds."""

    async def scenario() -> list[float]:
        admission = AdmissionQueue(lease_seconds=lease, patience_seconds=patience)
        came = trio.current_time()
        begun: list[float] = []

        async def work(seconds: float) -> None:
            with admission.queued() as turn:
                await turn.begin()
                begun.append(round(trio.current_time() - came, 6))
                await trio.sleep(seconds)

        async with trio.open_nursery() as nursery:
            for each in seconds:
                nursery.start_soon(work, each)
                await trio.testing.wait_all_tasks_blocked()
        return begun

    return simulate(scenario)


def test_one_after_the_other() -> None:
    assert beginnings(0.5, 0.25, 0.5) == [0, 0.5, 0.75]


def test_a_slow_ticket_is_waited_for_until_the_end_of_its_lease() -> None:
    assert beginnings(60, 0.5, 60, 0.5) == [0, 1, 1.5, 2.5]


def test_patience_has_an_end() -> None:
    assert beginnings(1, 1, 1, 1, 1, patience=2.5) == [0, 1, 2, 2.5, 2.5]


def test_a_ticket_that_gives_up_does_not_keep_the_next_one_waiting() -> None:
    async def scenario() -> list[float]:
        admission = AdmissionQueue(lease_seconds=1, patience_seconds=10)
        came = trio.current_time()
        begun = []

        async def come(patience_seconds: float) -> None:
            with trio.move_on_after(patience_seconds), admission.queued() as turn:
                await turn.begin()
                begun.append(trio.current_time() - came)

        with admission.queued() as first:
            await first.begin()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(come, 0.25)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(come, 60)
        return begun

    assert simulate(scenario) == [0.25]


def test_those_who_had_their_turn_are_forgotten() -> None:
    async def scenario() -> int:
        admission = AdmissionQueue(lease_seconds=1, patience_seconds=10)
        had: weakref.WeakSet[Ticket] = weakref.WeakSet()
        for _ in range(5):
            with admission.queued() as turn:
                await turn.begin()
                had.add(turn)
        with admission.queued() as turn:
            await turn.begin()
            gc.collect()
            return len(had)

    assert simulate(scenario) == 0


class Limits:
    """The operating system's limits of one process."""

    def __init__(self, soft: int, hard: int) -> None:
        self.now = (soft, hard)

    def get(self, kind: int) -> tuple[int, int]:
        assert kind == resource.RLIMIT_NOFILE
        return self.now

    def set(self, kind: int, limits: tuple[int, int]) -> None:
        assert kind == resource.RLIMIT_NOFILE
        soft, hard = limits
        highest = self.now[1]
        assert hard == highest, "nobody lowers what only root could raise again"
        assert highest == resource.RLIM_INFINITY or soft <= highest
        self.now = limits


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1_024, 1_048_576, WANTED),
        (1_024, 2_000, 2_000),
        (24, 24, 24),
        (8_192, 1_048_576, 8_192),
        (256, resource.RLIM_INFINITY, WANTED),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, WANTED),
    ],
)
def test_as_many_are_asked_for_as_are_wanted_and_lent(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int
) -> None:
    limits = Limits(soft, hard)
    monkeypatch.setattr(resource, "getrlimit", limits.get)
    monkeypatch.setattr(resource, "setrlimit", limits.set)
    assert raise_limit() == raised
    assert limits.now == ((soft if soft == resource.RLIM_INFINITY else raised), hard)
    assert raise_limit() == raised, "asked again, it changes nothing"


@pytest.mark.parametrize(
    ("limit", "opened", "connections"),
    [
        (4_096, 40, 4_024),
        (256, 56, 168),
        (100, 36, 32),
        (64, 40, 12),
        (24, 17, 3),
        (24, 23, 1),
        (24, 24, 1),
        (24, 30, 1),
    ],
)
def test_what_is_free_is_shared_between_connections_and_the_rest(limit: int, opened: int, connections: int) -> None:
    assert connections_for(limit, opened) == connections


@pytest.mark.parametrize("free", range(1, 3 * RESERVED))
def test_one_more_free_descriptor_takes_none_from_either(free: int) -> None:
    one_more = connections_for(free + 1, 0)
    assert 0 <= one_more - connections_for(free, 0) <= 1
    assert one_more <= free + 1


def test_what_is_open_is_counted_without_the_counting_itself() -> None:
    before = count_open()
    reading, writing = os.pipe()
    try:
        assert count_open() == before + 2
    finally:
        os.close(reading)
        os.close(writing)
    assert count_open() == before


T = TypeVar("T")


class Away:
    """Computes in place, and notes the types of the results; a collection counts as its items."""

    def __init__(self) -> None:
        self.made: set[type] = set()

    async def __call__(self, compute: Callable[[], T], /) -> T:
        value = await in_place(compute)
        self.made |= {type(each) for each in (value if isinstance(value, list | tuple) else [value])}
        return value


def test_a_verdict_and_the_scrub_of_what_was_learned_are_away_from_the_loop() -> None:
    away = Away()

    async def scenario() -> None:
        async with a_rig(JudgingModel(keep_separate), offload=away) as rig:
            await rig.learn(
                "the cache is keyed by commit and kept on disk", "the cache is keyed by commit and kept on ssd"
            )

    simulate(scenario)
    assert {KeepSeparate, MemoryRecord} <= away.made


def test_a_compaction_is_away_from_the_loop() -> None:
    away = Away()

    async def scenario() -> None:
        async with simulated_daemon(llm=Patient(learn=out_of_sorts), config=config(), background=away) as services:
            await take(services, range(10))
            await trio.sleep(35)

    simulate(scenario)
    assert BufferedEvent in away.made


def waited_for(prompt_count: int, *, until: float = 60.0) -> float:
    """The seconds that work waits for ``prompt_count`` prompts, all of which end at ``until``."""

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
    """An embedder that is slow, and notes when it embedded texts that no prompt waits for."""

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
    """A memory is found without them; only the passages that are shown are then chosen by words."""

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
