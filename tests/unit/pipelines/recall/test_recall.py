"""A prompt gets an answer in time, or silence, and never an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Literal, TypeVar

import attrs
import pytest
import trio

from kiro_learn.config import Config, LearningConfig, RecallConfig
from kiro_learn.errors import EmbeddingError, StorageBusy
from kiro_learn.model.correction import Correction
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.model.vectors import BUNDLED_MODEL, Codes, ModelIdentity
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

T = TypeVar("T")

QUESTION = TextBody("why does the token cache expire early")


async def remember_two(services: Services) -> None:
    await services.remember.put(
        a_record(1, "The token cache expires early", "why the token cache does expire early: clock skew")
    )
    await services.remember.put(a_record(2, "Colours of the footer", "grey on grey"))
    await trio.sleep(1)


def asked(
    storage: InMemoryStorage,
    model: HashEmbedder,
    before: Callable[[Services], Awaitable[None]] = remember_two,
    *,
    spoil: Callable[[], None] = lambda: None,
) -> Retrieval:
    async def scenario() -> Retrieval:
        async with simulated_daemon(storage=storage, model=model) as services:
            await before(services)
            spoil()
            with trio.fail_after(0.501):
                found = await services.recall.answer(NAMESPACE, QUESTION)
            for gate in (storage.read_gate, model.gate):
                if gate is not None:
                    gate.set()
            return found

    return simulate(scenario)


def test_what_helps_is_told_first() -> None:
    found = asked(InMemoryStorage(), HashEmbedder())

    assert found.record_ids[0] == a_record(1).record_id
    heading = "## Prior observations from kiro-learn\n\n### The token cache expires early (2026-01-05)\n"
    assert found.context.startswith(heading)
    assert found.degraded == ()


class BadPassages(InMemoryStorage):
    """A store whose passages are late, or cannot be read."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        await trio.sleep(self._seconds)
        raise StorageBusy("another process holds the lock")


@pytest.mark.parametrize(("seconds", "problem"), [(60, "late"), (0, "another process holds the lock")])
def test_without_the_vectors_of_passages_the_words_choose(seconds: float, problem: str) -> None:
    found = asked(BadPassages(seconds), HashEmbedder())

    assert found.record_ids[0] == a_record(1).record_id
    assert len(found.degraded) == 1
    assert found.degraded[0].startswith("passages: ")
    assert problem in found.degraded[0]


async def hang(*_: object, **__: object) -> None:
    await trio.sleep_forever()


async def fail(*_: object, **__: object) -> None:
    await trio.lowlevel.checkpoint()
    raise StorageBusy("locked")


STAGES = {
    "get_fitting_ids": "branch",
    "get_memory_records": "records",
    "list_replacements": "history",
    "get_passages": "passages",
}
"""The name in ``degraded`` of each thing that a prompt reads."""


@pytest.mark.parametrize("is_late", [True, False])
@pytest.mark.parametrize("read", STAGES)
def test_a_read_that_is_late_or_fails_is_named_and_the_rest_is_told(read: str, is_late: bool) -> None:
    storage = InMemoryStorage()

    async def scenario() -> Retrieval:
        async with simulated_daemon(storage=storage) as services:
            await remember_two(services)
            too_early = Correction(title="The token cache expires too early")
            await services.project_records.edit(NAMESPACE, a_record(1).record_id, too_early)
            await trio.sleep(1)
            setattr(storage, read, hang if is_late else fail)
            with trio.fail_after(0.501):
                return await services.recall.answer(NAMESPACE, QUESTION, branch="feature")

    found = simulate(scenario)
    assert found.degraded == (f"{STAGES[read]}: {'late' if is_late else 'locked'}",)
    assert bool(found.context) == (read != "get_memory_records")


def test_computing_for_learning_holds_up_no_prompt() -> None:
    """All computing of the learner is stuck; the prompt's computing does not queue behind it."""

    async def stuck(_compute: Callable[[], T], /) -> T:
        await trio.sleep_forever()
        raise AssertionError

    found: list[Retrieval] = []

    async def scenario() -> None:
        config = Config(learning=LearningConfig(buffer_idle_seconds=1))
        with trio.CancelScope() as daemon:
            async with simulated_daemon(background=stuck, config=config) as services:
                await remember_two(services)
                await services.capture.take(an_event(1))
                await trio.sleep(5)
                assert (await services.health.status()).projects[0].is_learning
                found.append(await services.recall.answer(NAMESPACE, QUESTION))
                daemon.cancel()

    simulate(scenario)
    assert found[0].record_ids[0] == a_record(1).record_id
    assert found[0].degraded == ()


@pytest.mark.parametrize("pipeline", ["hybrid", "graph"])
@pytest.mark.parametrize("left_seconds", [-1.0, 0.0, 0.001, 0.05, 0.099])
def test_a_prompt_whose_time_is_used_up_is_late_and_no_error(
    pipeline: Literal["hybrid", "graph"], left_seconds: float
) -> None:
    """The prompt waited for its session or its project; less time is left than a search must leave for the rest."""

    async def scenario() -> Retrieval:
        config = Config(recall=RecallConfig(pipeline=pipeline))
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, config=config) as services:
            await remember_two(services)
            storage.read_gate = trio.Event()
            deadline = trio.current_time() + left_seconds
            found = await services.recall.answer(NAMESPACE, QUESTION, deadline=deadline)
            storage.read_gate.set()
            return found

    found = simulate(scenario)
    assert found.degraded
    assert {problem.partition(": ")[2] for problem in found.degraded} == {"late"}


def test_an_empty_memory_is_silent() -> None:
    async def nothing(_services: Services) -> None:
        await trio.lowlevel.checkpoint()

    assert asked(InMemoryStorage(), HashEmbedder(), nothing).context == ""


def test_vectors_that_are_late_leave_the_words() -> None:
    model = HashEmbedder()

    def spoil() -> None:
        model.gate = trio.Event()

    found = asked(InMemoryStorage(), model, spoil=spoil)

    assert found.record_ids[0] == a_record(1).record_id
    assert found.degraded == ("vectors: late",)
    assert 350 <= found.latency_ms <= 500


def test_vectors_that_fail_leave_the_words() -> None:
    model = HashEmbedder()

    def spoil() -> None:
        model.fail_next = EmbeddingError("out of sorts")

    found = asked(InMemoryStorage(), model, spoil=spoil)

    assert found.record_ids[0] == a_record(1).record_id
    assert found.degraded == ("vectors: out of sorts",)


def test_a_store_that_hangs_costs_no_more_than_the_budget() -> None:
    storage = InMemoryStorage()

    def spoil() -> None:
        storage.read_gate = trio.Event()

    found = asked(storage, HashEmbedder(), spoil=spoil)

    assert found.context == ""
    assert found.degraded
    assert found.latency_ms <= 501


def test_words_that_fail_leave_the_meaning() -> None:
    storage = InMemoryStorage()

    async def index_at_hand(services: Services) -> None:
        await remember_two(services)
        await services.recall.answer(NAMESPACE, QUESTION)

    found = asked(storage, HashEmbedder(), index_at_hand, spoil=lambda: storage.fail_next_read(StorageBusy("locked")))

    assert found.record_ids[0] == a_record(1).record_id
    assert found.degraded == ("words: locked",)


def test_a_retrieval_that_cannot_be_booked_is_answered_all_the_same() -> None:
    def no_time() -> datetime:
        raise OverflowError

    async def scenario() -> Retrieval:
        async with simulated_daemon() as services:
            await remember_two(services)
            recall = attrs.evolve(services.recall, clock=attrs.evolve(services.recall._clock, utc_now=no_time))
            return await recall.answer(NAMESPACE, QUESTION)

    assert simulate(scenario).context


def test_a_store_that_fails_is_named_and_nothing_is_raised() -> None:
    storage = InMemoryStorage()

    found = asked(storage, HashEmbedder(), spoil=lambda: storage.fail_next_read(StorageBusy("locked")))

    assert any("locked" in reason for reason in found.degraded)


def test_a_bug_is_contained() -> None:
    storage = InMemoryStorage()

    found = asked(storage, HashEmbedder(), spoil=lambda: storage.fail_next_read(ZeroDivisionError("bug")))

    assert found.degraded


def test_prompts_that_come_together_are_answered_one_by_one_but_wait_for_none_too_long() -> None:
    async def scenario() -> tuple[list[float], list[float]]:
        storage = InMemoryStorage()
        storage.words_seconds = 0.06
        async with simulated_daemon(storage=storage) as services:
            await remember_two(services)
            began = trio.current_time()
            answered: list[float] = []

            async def ask() -> None:
                found = await services.recall.answer(NAMESPACE, QUESTION)
                assert found.context
                assert not found.degraded
                answered.append(round(trio.current_time() - began, 3))

            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(ask)
            reports = services.retrievals.latest(namespace=None, limit=8)
            return answered, sorted(report.stages_ms["turn"] for report in reports)

    answered, waited = simulate(scenario)
    assert answered == [0.06, 0.12, 0.18, 0.24, 0.3, 0.31, 0.31, 0.31]
    assert waited == [0, 60, 120, 180, 240, 250, 250, 250]


def test_a_prompt_that_waited_for_its_turn_is_answered_inside_its_budget_all_the_same() -> None:
    """Found by words: the model is late for all prompts, so each keeps its turn for as long as it may search."""

    async def scenario() -> list[tuple[bool, tuple[str, ...]]]:
        model = HashEmbedder()
        async with simulated_daemon(model=model) as services:
            await remember_two(services)
            model.gate = trio.Event()
            answers = []

            async def ask() -> None:
                with trio.fail_after(0.501):
                    found = await services.recall.answer(NAMESPACE, QUESTION)
                answers.append((bool(found.context), found.degraded))

            async with trio.open_nursery() as nursery:
                for _ in range(5):
                    nursery.start_soon(ask)
            model.gate.set()
            return answers

    assert simulate(scenario) == [(True, ("vectors: late",))] * 5
