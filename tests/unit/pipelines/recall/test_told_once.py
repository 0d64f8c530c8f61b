"""A session is told a memory only once; the room goes to new ones."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest
import trio

from kiro_learn.actors import session_ledger
from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import ActorStopped, StorageBusy
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.pipelines.recall.recall_trace import NOTHING_NEW, NOTHING_RELEVANT
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one

QUESTION = TextBody("why does the token cache expire early")
OTHERS = namespace_of("ada", "b" * 64)
CITIES = "Oslo Bern Kyiv Rome Riga Bonn Lima Cairo Quito Minsk Sofia Accra Dakar Hanoi Paris Delhi Tunis Doha Suva Male"


async def remember(services: Services, count: int) -> None:
    """Store ``count`` memories that answer the question, no two of them alike."""
    for number, city in enumerate(CITIES.split()[:count], 1):
        await services.remember.put(about(number, city))
    await trio.sleep(1)


def about(number: int, city: str, namespace: Namespace = NAMESPACE) -> MemoryRecord:
    summary = f"why does the token cache expire early: {city}port {city}gate {city}hill"
    return a_record(number, f"The cache in {city}", summary, namespace=namespace)


async def ask(services: Services, session: str | None = "s", event: EventId | None = None) -> tuple[RecordId, ...]:
    found = await services.recall.answer(NAMESPACE, QUESTION, session_id=session, event_id=event)
    assert found.degraded == ()
    assert bool(found.context) == bool(found.record_ids)
    return found.record_ids


def simulated(
    story: Callable[[Services, InMemoryStorage], Awaitable[None]],
    *,
    storage: InMemoryStorage | None = None,
    count: int = 2,
    repeat_after_prompts: int = 0,
    result_limit: int = 18,
) -> None:
    store = storage or InMemoryStorage()
    recall = RecallConfig(prompts="all", repeat_after_prompts=repeat_after_prompts, result_limit=result_limit)
    config = Config(recall=recall)

    async def scenario() -> None:
        async with simulated_daemon(storage=store, config=config) as services:
            await remember(services, count)
            await story(services, store)

    simulate(scenario)


def test_a_session_is_told_each_memory_once_and_the_book_says_so() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        first = await ask(services)
        assert len(first) == 2
        assert await ask(services) == ()
        (report, before) = services.retrievals.latest(namespace=None, limit=2)
        assert (report.left_out, report.silent_because) == ({"told_before": 2}, NOTHING_NEW)
        assert [(each.record_id, each.shown, each.told_before) for each in report.records] == [
            (record_id, False, True) for record_id in first
        ]
        assert not any(each.told_before for each in before.records)

    simulated(story)


def test_what_was_told_before_and_is_not_close_enough_is_no_reason_for_silence() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        await ask(services)
        off_topic = TextBody("which zebra volcano trumpet giraffe blanket cookie would you cook early")
        await services.recall.answer(NAMESPACE, off_topic, session_id="s")
        (report,) = services.retrievals.latest(namespace=None, limit=1)
        assert (report.left_out, report.silent_because) == ({"told_before": 2}, NOTHING_RELEVANT)
        assert report.confidence is not None
        assert report.needed is not None
        assert report.confidence < report.needed

    simulated(story)


def test_the_room_goes_to_what_is_new() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        answers = [await ask(services) for _ in range(4)]
        assert [len(answer) for answer in answers] == [8, 8, 4, 0]
        assert len({record_id for answer in answers for record_id in answer}) == 20

    simulated(story, count=20, result_limit=8)


def test_other_sessions_and_prompts_of_none_are_told_all_of_it() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        told = await ask(services)
        assert await ask(services, "t") == told
        assert await ask(services, None) == told
        assert await ask(services, None) == told

    simulated(story)


def test_prompts_of_a_session_that_come_together_repeat_nothing() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        storage.words_seconds = 0.2  # longer than a turn, so the prompts are answered at the same time
        answers: list[tuple[RecordId, ...]] = []

        async def one() -> None:
            answers.append(await ask(services))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(one)
        assert sorted(map(len, answers)) == [0, 0, 2]

    simulated(story)


def test_a_memory_that_was_merged_is_told_as_what_it_became() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        await ask(services)
        old, new = a_record(1), about(30, "Oslo")

        def merge(transaction: StorageTransaction) -> None:
            transaction.put_memory_record(new)
            transaction.replace_memory_records(
                Replacement(
                    replacement_id="r",
                    namespace=NAMESPACE,
                    reason=ReplacementReason.MERGED,
                    replaced_at=EPOCH,
                    replacing=(new.record_id,),
                    replaced=(old,),
                )
            )

        await transact_one(storage, merge)
        assert await ask(services) == (new.record_id,)

    simulated(story)


def test_what_was_told_is_not_followed_by_what_it_overturned() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        words = "why does the token cache expire early since the clock of the gateway drifts by minutes"
        await services.remember.put(a_record(2, "The token cache", f"{words} fifteen"))
        await trio.sleep(1)
        assert await ask(services) == (a_record(2).record_id,)
        await services.remember.put(a_record(1, "The token cache", f"{words} nine"))
        await trio.sleep(1)
        assert await ask(services) == ()
        await services.remember.put(a_record(3, "The token cache", f"{words} forty"))
        await trio.sleep(1)
        assert await ask(services) == (a_record(3).record_id,)

    simulated(story, count=0)


def test_after_as_many_prompts_as_are_set_it_is_told_again() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        assert [len(await ask(services)) for _ in range(7)] == [2, 0, 0, 2, 0, 0, 2]

    simulated(story, repeat_after_prompts=2)


def test_a_prompt_that_is_sent_again_is_answered_again() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        event = an_event(7).event_id
        told = await ask(services, event=event)
        assert await ask(services, event=event) == told
        assert await ask(services, event=an_event(8).event_id) == ()

    simulated(story)


def test_a_restart_does_not_tell_it_again() -> None:
    storage = InMemoryStorage()

    async def before(services: Services, _storage: InMemoryStorage) -> None:
        assert len(await ask(services)) == 2

    async def after(services: Services, _storage: InMemoryStorage) -> None:
        assert await ask(services) == ()
        assert len(await ask(services, "t")) == 2

    simulated(before, storage=storage)
    simulated(after, storage=storage, count=0)


def test_a_restart_goes_on_counting_prompts() -> None:
    storage = InMemoryStorage()

    async def before(services: Services, _storage: InMemoryStorage) -> None:
        assert [len(await ask(services)) for _ in range(4)] == [2, 0, 0, 2]

    async def after(services: Services, _storage: InMemoryStorage) -> None:
        assert [len(await ask(services)) for _ in range(3)] == [0, 0, 2]

    simulated(before, storage=storage, repeat_after_prompts=2)
    simulated(after, storage=storage, count=0, repeat_after_prompts=2)


def test_no_answer_waits_for_the_store_to_write_it_down() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        storage.write_gate = trio.Event()
        assert len(await ask(services)) == 2
        assert await ask(services) == ()
        storage.write_gate.set()
        await trio.sleep(1)
        assert len(await storage.list_told()) == 2

    simulated(story)


def test_what_could_not_be_written_down_is_written_with_what_comes_next() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        storage.fail_next_write(StorageBusy("locked"))
        await ask(services)
        await trio.sleep(1)
        assert await storage.list_told() == []
        await ask(services, "t")
        await trio.sleep(1)
        assert [each.session_id for each in await storage.list_told()] == ["s", "s", "t", "t"]

    simulated(story)


def test_what_was_told_cannot_be_read_at_the_start_and_the_daemon_starts_all_the_same() -> None:
    storage = InMemoryStorage()
    storage.fail_next_read(StorageBusy("locked"))
    storage.fail_next_read(StorageBusy("locked"))

    async def story(services: Services, _storage: InMemoryStorage) -> None:
        assert len(await ask(services)) == 2

    simulated(story, storage=storage)


def test_an_answer_that_was_not_sent_told_nothing() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        gate = storage.write_gate = trio.Event()
        storage.fail_next_write(ActorStopped("storage actor"))
        event = an_event(1, text=QUESTION.content, session="s")

        async def refused() -> None:
            with pytest.raises(ActorStopped):
                await services.prompt.take(event)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(refused)
            await trio.sleep(0.1)  # now the memories are found, and the event is not stored yet
            assert await ask(services) == ()
            gate.set()
        assert len(await ask(services)) == 2
        await trio.sleep(1)
        assert len(await storage.list_told()) == 2

    simulated(story)


def test_what_is_forgotten_is_forgotten_here_too() -> None:
    async def story(services: Services, storage: InMemoryStorage) -> None:
        await ask(services)
        await trio.sleep(1)
        await services.forget.forget(a_record(1).record_id)
        assert [each.item_id for each in await storage.list_told()] == [a_record(2).record_id]

    simulated(story)


@pytest.mark.parametrize("limit", ["MOST_SESSIONS", "MOST_TOLD"])
def test_the_session_that_asked_longest_ago_makes_room(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_ledger, limit, 2 if limit == "MOST_SESSIONS" else 4)

    async def story(services: Services, storage: InMemoryStorage) -> None:
        for session in ("s", "t", "s", "u"):
            await ask(services, session)
        await trio.sleep(1)
        assert {each.session_id for each in await storage.list_told()} == {"s", "u"}
        assert await ask(services, "s") == ()
        assert len(await ask(services, "t")) == 2

    simulated(story)


def test_a_store_that_never_takes_it_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_ledger, "MOST_UNSTORED", 3)

    async def story(services: Services, storage: InMemoryStorage) -> None:
        storage.write_gate = trio.Event()
        for number in range(9):
            await ask(services, f"s{number}")
        storage.write_gate.set()
        await trio.sleep(1)
        assert {each.session_id for each in await storage.list_told()} == {"s6", "s7", "s8"}

    simulated(story)


def hook(name: str, **fields: str) -> bytes:
    return json.dumps({"hook_event_name": name, "session_id": "s", "cwd": "/home/shop", **fields}).encode()


@pytest.mark.parametrize(
    ("start", "count"),
    [
        (hook("SessionStart", source="compact"), 2),
        (hook("SessionStart", source="clear"), 2),
        (hook("SessionStart", source="resume"), 2),
        (hook("agentSpawn"), 0),
        (hook("SessionStart", source="startup"), 0),
        (hook("SessionStart", source="compact", session_id="t"), 0),
        (hook("SessionStart", source="compact", cwd="/home/other"), 0),
        (hook("stop", assistant_response="so", source="compact"), 0),
    ],
)
def test_a_context_that_was_emptied_may_be_told_again(start: bytes, count: int) -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        of_prompts_alone = Config(recall=RecallConfig(brief_bytes=0))
        async with simulated_daemon(storage=storage, config=of_prompts_alone) as services:
            namespace = (await services.project_finder.project_of("/home/shop")).namespace
            for number, city in ((1, "Oslo"), (2, "Bern")):
                await services.remember.put(about(number, city, namespace))
            await trio.sleep(1)

            async def told() -> int:
                asked = await services.hooks.take(
                    "kiro-cli", hook("userPromptSubmit", prompt=QUESTION.content), {}, retrieve=True
                )
                return asked.context.count("\n### ")

            assert [await told(), await told()] == [2, 0]
            await services.hooks.take("kiro-cli", start, {}, retrieve=True)
            assert await told() == count
            await trio.sleep(1)
            assert len(await storage.list_told()) == 2

    simulate(scenario)


def test_projects_with_sessions_of_one_name_are_told_apart() -> None:
    async def story(services: Services, _storage: InMemoryStorage) -> None:
        await services.remember.put(about(50, "Oslo", OTHERS))
        await trio.sleep(1)
        assert len(await ask(services)) == 2
        found = await services.recall.answer(OTHERS, QUESTION, session_id="s")
        assert found.record_ids == (about(50, "Oslo").record_id,)

    simulated(story)
