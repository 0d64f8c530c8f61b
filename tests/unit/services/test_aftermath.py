"""The use of a told memory is judged by the session's next events, and stored with the memory."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from kiro_learn.errors import UnknownRecord
from kiro_learn.model.event import Event, EventKind, JsonBody, TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon

QUESTION = "why does the token cache expire early"
TOLD = a_record(1, "The token cache expires early", f"{QUESTION}: expire_all in token_cache.py, skew_ms")
USING = {"tool_name": "Edit", "tool_input": {"file_path": "token_cache.py", "new_string": "expire_all(skew_ms)"}}


def an_event_of(number: int, kind: EventKind, body: TextBody | JsonBody) -> Event:
    return attrs.evolve(an_event(number), kind=kind, body=body)


async def ask(services: Services, number: int, text: str = QUESTION, session: str = "") -> tuple[RecordId, ...]:
    event = an_event_of(number, EventKind.PROMPT, TextBody(text))
    _, retrieval = await services.prompt.take(attrs.evolve(event, session_id=session or event.session_id))
    return retrieval.record_ids


async def use_tool(services: Services, number: int, **data: Any) -> None:
    await services.capture.take(an_event_of(number, EventKind.TOOL_USE, JsonBody(USING | data)))


async def what_became(services: Services) -> FeedbackCounts:
    await trio.sleep(5)
    return services.aftermath.counts_of(TOLD.record_id)


async def remember(services: Services) -> None:
    await services.remember.put(TOLD)
    await services.remember.put(a_record(2, "Colours of the footer", "grey on grey"))
    await trio.sleep(1)


def test_a_memory_whose_names_follow_was_used() -> None:
    async def scenario(services: Services) -> None:
        await remember(services)
        assert TOLD.record_id in await ask(services, 1)
        await use_tool(services, 2)
        await ask(services, 3, "ok go on")
        assert await what_became(services) == FeedbackCounts(used=1)
        told = services.retrievals.latest(namespace=NAMESPACE, limit=10)[-1].records
        assert [each.became for each in told if each.record_id == TOLD.record_id] == [Feedback.USED]
        assert services.aftermath.factors([TOLD.record_id])[0] > 1

    in_daemon(scenario)


def test_a_memory_that_was_told_and_not_used_is_worth_what_it_was() -> None:
    async def scenario(services: Services) -> None:
        await remember(services)
        await ask(services, 1)
        await use_tool(services, 2, tool_input={"command": "ls"}, tool_response="expire_all token_cache.py skew_ms")
        await ask(services, 3, "no, go on")
        assert await what_became(services) == FeedbackCounts(ignored=1)
        assert services.aftermath.factors([TOLD.record_id])[0] == 1

    in_daemon(scenario)


def test_an_objection_to_what_was_used_counts_against_it() -> None:
    async def scenario(services: Services) -> None:
        await remember(services)
        await ask(services, 1)
        await use_tool(services, 2)
        await ask(services, 3, "no, that was changed")
        assert await what_became(services) == FeedbackCounts(objected=1)
        assert services.aftermath.factors([TOLD.record_id])[0] < 1

    in_daemon(scenario)


def test_what_somebody_says_is_kept_and_read_by_the_next_daemon() -> None:
    async def first(services: Services) -> None:
        await remember(services)
        assert await services.aftermath.say(TOLD.record_id, Feedback.HELPED) == FeedbackCounts(helped=1)
        with pytest.raises(UnknownRecord):
            await services.aftermath.say(a_record(9).record_id, Feedback.WRONG)

    async def second(services: Services) -> None:
        assert services.aftermath.counts_of(TOLD.record_id) == FeedbackCounts(helped=1)
        await services.forget.forget(TOLD.record_id)
        assert services.aftermath.counts_of(TOLD.record_id) == FeedbackCounts()
        assert await storage.list_feedback(10) == {}

    storage = InMemoryStorage()
    in_daemon(first, storage=storage)
    in_daemon(second, storage=storage)


def test_a_memory_that_is_wrong_stands_behind_one_as_good() -> None:
    async def scenario(services: Services) -> None:
        causes = ("since the clock of the gateway drifts by minutes", "because the proxy strips cookies of replies")
        for number, cause in enumerate(causes, start=1):
            await services.remember.put(a_record(number, f"Cache {number}", f"the token cache expires early {cause}"))
        await trio.sleep(1)
        before = await ask(services, 1)
        await services.aftermath.say(before[0], Feedback.WRONG)
        assert await ask(services, 50, session="another") == (before[1], before[0])

    in_daemon(scenario)
