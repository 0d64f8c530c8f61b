"""A pause stops capture and recall, also after a restart; a session's pause ends with the session."""

from __future__ import annotations

from pathlib import PurePosixPath

import trio

from kiro_learn.model.namespace import project_at
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import Letterbox, a_record, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.relearning_rig import settle
from tests.unit.services.test_hooks import events_of, letter

SHOP = project_at(PurePosixPath("/home/ada/shop"), actor_id="ada").namespace
DAY = 24 * 3600.0


async def report(services: Services, number: int, session: str = "s", prompt: str = "Rotate the signing key?") -> str:
    sent = letter(number, "userPromptSubmit", session_id=session, prompt=prompt)
    return (await services.hooks.take(sent.agent, sent.payload, sent.headers, retrieve=True)).context


def test_a_paused_project_takes_nothing_in_and_tells_nothing() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await settle(
            storage, [], [a_record(1, "Rotate the signing key", "Rotate the signing key weekly.", namespace=SHOP)]
        )
        async with simulated_daemon(storage=storage) as services:
            assert "weekly" in await report(services, 1)
            await services.pauses.pause(SHOP, None)
            assert await report(services, 2, "other") == ""
            assert len(await events_of(services)) == 1
        async with simulated_daemon(storage=storage) as services:
            assert await report(services, 3, "third") == ""
            assert [each.session_id for each in (await services.health.status()).pauses] == [None]
            assert await services.pauses.resume(SHOP, None)
            assert "weekly" in await report(services, 4, "fourth")
            assert len(await events_of(services)) == 2

    simulate(scenario)


def test_a_paused_session_holds_up_no_other() -> None:
    async def scenario() -> list[str]:
        async with simulated_daemon() as services:
            await services.pauses.pause(SHOP, "s")
            await report(services, 1, "s")
            await report(services, 2, "t")
            return [event.session_id for event in await events_of(services)]

    assert simulate(scenario) == ["t"]


def test_what_was_put_aside_in_a_pause_is_dropped_too() -> None:
    async def scenario() -> int:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await services.pauses.pause(SHOP, None)
        box = Letterbox([letter(1, "userPromptSubmit", prompt="why?")])
        async with simulated_daemon(storage=storage, hook_spool=box) as services:
            await trio.sleep(1)
            assert not box.letters
            return len(await events_of(services))

    assert simulate(scenario) == 0


def test_the_pause_of_a_session_ends_when_it_is_silent_and_that_of_a_project_does_not() -> None:
    async def scenario() -> list[str | None]:
        async with simulated_daemon() as services:
            for session in ("over", "alive", None):
                await services.pauses.pause(SHOP, session)
            await trio.sleep(DAY - 7_200)
            await report(services, 1, "alive")
            await trio.sleep(3 * 3600)
            return [pause.session_id for pause in services.pauses.list()]

    assert simulate(scenario) == ["alive", None]


def test_pausing_twice_is_one_pause_and_resuming_twice_says_so() -> None:
    async def scenario() -> list[bool]:
        async with simulated_daemon() as services:
            first = await services.pauses.pause(SHOP, None)
            assert await services.pauses.pause(SHOP, None) == first
            return [await services.pauses.resume(SHOP, None) for _ in range(2)]

    assert simulate(scenario) == [True, False]
