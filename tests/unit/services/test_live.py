"""A listener receives every event once, in order, or a note that it missed some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise

import trio

from kiro_learn.model.event import TextBody
from kiro_learn.model.retrieval import Report
from kiro_learn.ports.storage.answers import RecordStored
from kiro_learn.services.live import (
    HEARTBEAT_SECONDS,
    KEPT,
    MOST_AT_ONCE,
    MOST_LISTENERS,
    STATUS_SECONDS,
    LearnedNow,
    Listener,
    LiveEvent,
    StatusNow,
)
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from tests.unit.services.in_daemon import in_daemon

QUESTION = TextBody("why does the token cache expire early")


def with_services(scenario: Callable[[Services], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        in_daemon(scenario)

    test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
    return test


def listener_of(services: Services, last_event_id: str | None = None) -> Listener:
    found = services.live.listen(last_event_id)
    assert found is not None
    return found


async def all_within(listener: Listener, seconds: float) -> list[LiveEvent]:
    """The events that ``listener`` receives within ``seconds``."""
    events: list[LiveEvent] = []
    with trio.move_on_after(seconds):
        async for some in listener:
            events += some
    return events


def titles(events: list[LiveEvent]) -> list[str]:
    return [event.what.title for event in events if isinstance(event.what, LearnedNow)]


async def learn(services: Services, *numbers: int) -> None:
    for number in numbers:
        await services.remember.put(a_record(number))


@with_services
async def test_a_memory_is_told_with_its_title_type_project_and_session(services: Services) -> None:
    listener = listener_of(services)
    await services.capture.take(an_event(1, session="s-9"))
    await learn(services, 1)

    (learned,) = (each.what for each in await all_within(listener, 0.5) if isinstance(each.what, LearnedNow))

    record = a_record(1)
    assert (learned.record_id, learned.title, learned.type) == (record.record_id, record.title, "discovery")
    assert (learned.namespace, learned.at, learned.session_id) == (NAMESPACE, record.created_at, "s-9")


@with_services
async def test_an_answer_is_told_with_what_was_told_and_how_long_it_took(services: Services) -> None:
    await services.remember.put(a_record(1, "The token cache expires early", "why does the token cache expire early"))
    listener = listener_of(services)
    await services.recall.answer(NAMESPACE, QUESTION, session_id="s-1")
    (report,) = services.retrievals.latest(namespace=None, limit=1)

    (answer,) = (each.what for each in await all_within(listener, 0.5) if isinstance(each.what, Report))

    assert answer == report
    assert answer.context_bytes > 0


@with_services
async def test_who_comes_back_is_told_what_came_meanwhile_and_nothing_twice(services: Services) -> None:
    first = listener_of(services)
    await learn(services, 1)
    known = (await all_within(first, 0.5))[-1].event_id
    first.close()
    await learn(services, 2, 3)

    events = await all_within(listener_of(services, known), 2)

    assert titles(events) == ["record 2", "record 3"]
    assert not any(each.what is None for each in events)


@with_services
async def test_who_missed_more_than_is_kept_or_knew_another_daemon_is_told_of_a_gap_first(services: Services) -> None:
    await learn(services, 1)
    (known, *_) = await all_within(listener_of(services), 0.1)
    for _ in range(KEPT + 1):
        services.live.add(RecordStored(NAMESPACE, a_record(2).record_id))

    for each in (known.event_id, "0-7", "nonsense", f"{known.event_id.partition('-')[0]}-{10**30}"):
        events = await all_within(listener_of(services, each), 0.1)
        assert [event.what is None for event in events][:1] == [True]
        assert titles(events) == []


@with_services
async def test_a_memory_that_is_forgotten_before_it_is_told_is_left_out(services: Services) -> None:
    listener = listener_of(services)
    await learn(services, 1, 2)
    await services.forget.forget(a_record(1).record_id)

    assert titles(await all_within(listener, 0.5)) == ["record 2"]


@with_services
async def test_who_does_not_read_is_dropped_once_the_next_event_is_not_kept(services: Services) -> None:
    slow, quick = listener_of(services), listener_of(services)
    count = 0
    for _ in range(KEPT // MOST_AT_ONCE + 1):
        await learn(services, *range(count, count + MOST_AT_ONCE))
        count += MOST_AT_ONCE
        await all_within(quick, 0.1)

    with trio.fail_after(1):
        assert [events async for events in slow] == []


@with_services
async def test_the_status_comes_at_once_then_at_most_once_a_second_and_last_with_the_last_change(
    services: Services,
) -> None:
    listener, began_at = listener_of(services), trio.current_time()
    moments: list[float] = []
    async with trio.open_nursery() as nursery:

        async def keep_changing() -> None:
            for number in range(35):
                await learn(services, number)
                await trio.sleep(0.1)

        nursery.start_soon(keep_changing)
        with trio.move_on_after(10):
            async for events in listener:
                moments += [trio.current_time() for each in events if isinstance(each.what, StatusNow)]

    assert moments[0] - began_at < STATUS_SECONDS
    assert all(later - earlier >= STATUS_SECONDS for earlier, later in pairwise(moments))
    assert 3.4 <= moments[-1] - began_at < 3.5 + STATUS_SECONDS


@with_services
async def test_where_nothing_happens_a_listener_is_given_nothing_now_and_then(services: Services) -> None:
    listener, began_at = listener_of(services), trio.current_time()
    await anext(listener)

    assert await anext(listener) == []
    assert trio.current_time() - began_at == HEARTBEAT_SECONDS


@with_services
async def test_only_so_many_listen_until_one_is_closed(services: Services) -> None:
    listeners = [listener_of(services) for _ in range(MOST_LISTENERS)]
    assert services.live.listen() is None
    listeners[0].close()
    listeners[0].close()
    assert services.live.listen() is not None
    assert services.live.listen() is None
