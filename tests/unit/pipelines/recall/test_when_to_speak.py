"""Recall answers when a session sets its goal or somebody asks about the past, and is silent in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Literal

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import KnowledgeType, Origin
from kiro_learn.pipelines.recall.reading import MOST_ABOUT
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage

GOAL = "the token cache expires early, make it last"
STEP = "now let the token cache last for a day"
PAST = "what did we decide about the token cache?"
EVENT = EventId("01JB2M9P7S8QXKD3W5T6V4ZH0N")


async def tell(
    services: Services, text: str, *, hours: float = 0, event: EventId | None = None, session: str = "s"
) -> str:
    """The text that a prompt of the session is told, ``hours`` after EPOCH."""
    said_at = EPOCH + timedelta(hours=hours)
    found = await services.recall.answer(NAMESPACE, TextBody(text), session_id=session, event_id=event, said_at=said_at)
    assert found.degraded == ()
    return found.context


async def remember(services: Services) -> None:
    for number, city in enumerate(("Oslo", "Bern", "Kyiv", "Rome"), 1):
        summary = f"the token cache expires early in {city}: {city}port and {city}gate"
        await services.remember.put(a_record(number, f"The token cache in {city}", summary))
    await trio.sleep(1)


def story(
    prompts: Literal["goals", "all", "none"], steps: Callable[[Services], Awaitable[None]], task_bytes: int = 4_000
) -> None:
    async def scenario() -> None:
        config = Config(recall=RecallConfig(prompts=prompts, result_limit=1, task_bytes=task_bytes))
        async with simulated_daemon(config=config) as services:
            await remember(services)
            await steps(services)

    simulate(scenario)


def test_what_may_help_is_told_to_a_question_and_not_to_a_task() -> None:
    async def steps(services: Services) -> None:
        assert "token cache" in await tell(services, "why is the cache of images slow to expire?", session="question")
        assert await tell(services, "let the cache of images expire", session="task") == ""

    story("goals", steps)


def test_a_goal_is_answered_and_what_follows_is_not() -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, "hello") == ""
        assert "token cache" in await tell(services, GOAL)
        assert await tell(services, STEP) == ""
        (report, *_) = services.retrievals.latest(namespace=None, limit=1)
        assert report.silent_because == "the prompt goes on with what its session knows"

    story("goals", steps)


def test_who_asks_about_the_past_is_answered_in_the_middle_of_a_session() -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, GOAL)
        assert await tell(services, PAST)

    story("goals", steps)


def test_a_rule_by_itself_sets_no_goal_and_is_told_nothing() -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, "Never let the token cache expire early in Oslo.") == ""
        assert "token cache" in await tell(services, GOAL)

    story("goals", steps)


def test_a_goal_that_is_sent_again_is_answered_again() -> None:
    async def steps(services: Services) -> None:
        first = await tell(services, GOAL, event=EVENT)
        assert first
        assert await tell(services, GOAL, event=EVENT) == first

    story("goals", steps)


@pytest.mark.parametrize(("pause_hours", "is_told"), [(1.9, False), (2.0, True)])
def test_after_a_pause_the_next_prompt_sets_another_goal(pause_hours: float, *, is_told: bool) -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, GOAL)
        assert bool(await tell(services, STEP, hours=pause_hours)) is is_told

    story("goals", steps)


def test_a_task_has_less_room_than_a_question() -> None:
    async def steps(services: Services) -> None:
        assert len((await tell(services, GOAL)).encode()) <= 200

    story("goals", steps, task_bytes=200)


def test_with_all_every_prompt_is_answered() -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, GOAL)
        assert await tell(services, STEP)

    story("all", steps)


def test_with_none_no_prompt_is_answered() -> None:
    async def steps(services: Services) -> None:
        assert await tell(services, GOAL) == ""
        assert await tell(services, PAST) == ""

    story("none", steps)


NAMED = "the callback on localhost:1420 worked before, and now the release breaks it"
CALLBACK = "The callback page on localhost:1420 hands the token over through localStorage."


async def remember_callbacks(services: Services, count: int) -> None:
    for number in range(11, 11 + count):
        await services.remember.put(a_record(number, f"Callback {number}", f"{CALLBACK} Number {number}."))
    await trio.sleep(1)


def test_a_step_that_names_what_few_memories_have_is_told_these_alone() -> None:
    async def steps(services: Services) -> None:
        await remember_callbacks(services, 1)
        assert await tell(services, GOAL)
        told = await tell(services, NAMED)
        assert CALLBACK in told
        assert "token cache" not in told
        assert len(told.encode()) <= 400
        assert await tell(services, f"{NAMED} again") == ""

    story("goals", steps, task_bytes=400)


@pytest.mark.parametrize(("count", "is_told"), [(0, False), (MOST_ABOUT, True), (MOST_ABOUT + 1, False)])
def test_a_name_that_many_memories_have_says_nothing(count: int, *, is_told: bool) -> None:
    async def steps(services: Services) -> None:
        await remember_callbacks(services, count)
        assert await tell(services, GOAL)
        assert bool(await tell(services, NAMED)) is is_told

    story("goals", steps)


def test_a_name_that_only_the_session_itself_stated_tells_it_nothing() -> None:
    async def steps(services: Services) -> None:
        await services.capture.take(an_event(11, session="s"))
        await remember_callbacks(services, 1)
        assert await tell(services, GOAL)
        assert await tell(services, NAMED) == ""
        assert await tell(services, GOAL, session="t")
        assert CALLBACK in await tell(services, NAMED, session="t")

    story("goals", steps)


def test_names_that_cannot_be_looked_up_are_in_the_log_and_tell_nothing() -> None:
    storage = InMemoryStorage()

    async def scenario() -> None:
        async with simulated_daemon(storage=storage) as services:
            await remember_callbacks(services, 1)
            await tell(services, GOAL)
            storage.fail_next_read(StorageBusy("another process holds the lock"))
            found = await services.recall.answer(NAMESPACE, TextBody(NAMED), session_id="s")
            assert (found.context, len(found.degraded)) == ("", 1)
            assert found.degraded[0].startswith("names: ")

    simulate(scenario)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("test_run", "The tests run in parallel on four cores."),
        ("user_name", "The user names are shown in capitals."),
        ("pool.py", "Helpers in test_pool.py cover the pool."),
        ("relay:4044", "The relay answers in 4044 ms."),
    ],
)
def test_a_memory_with_the_words_of_a_name_and_not_the_name_is_not_told(named: str, said: str) -> None:
    async def steps(services: Services) -> None:
        await services.remember.put(a_record(11, "Something else", said))
        assert await tell(services, GOAL)
        assert await tell(services, f"now mend {named}") == ""
        await services.remember.put(a_record(12, "The same", f"It is in src/{named}, as ever."))
        assert "as ever" in await tell(services, f"now mend @src/{named.upper()}" if "." in named else f"mend {named}")

    story("goals", steps)


def test_what_overrules_a_memory_with_the_name_is_told_above_it() -> None:
    async def steps(services: Services) -> None:
        for number, rule in ((11, "Never use mocks"), (12, "Use mocks, the server is slow")):
            made = a_record(number, rule, f"{rule}, as tests/conftest_base.py says." if number == 11 else f"{rule}.")
            await services.remember.put(attrs.evolve(made, knowledge_type=KnowledgeType.CONSTRAINT, origin=Origin.USER))
        await trio.sleep(1)
        assert await tell(services, GOAL)
        told = await tell(services, "now tests/conftest_base.py needs the mocks of the server too")
        assert told.index("the server is slow") < told.index("Never use mocks")

    story("goals", steps)


def test_where_the_index_of_words_is_damaged_names_say_so_and_it_is_rebuilt() -> None:
    storage = InMemoryStorage()

    async def scenario() -> None:
        async with simulated_daemon(storage=storage) as services:
            await remember(services)
            await remember_callbacks(services, 1)
            await services.recall.answer(NAMESPACE, TextBody(GOAL), session_id="s")
            storage.damage_words(NAMESPACE)
            found = await services.recall.answer(NAMESPACE, TextBody(NAMED), session_id="s")
            assert found.context == ""
            assert found.degraded == ("names: the index of words is damaged", INDEX_DAMAGED)
            await trio.sleep(60)
            assert CALLBACK in await tell(services, NAMED)

    simulate(scenario)
