"""A store that hangs delays no prompt past its budget, and no event is lost or stored twice because of it."""

from __future__ import annotations

import json

import pytest
import trio

from kiro_learn.errors import StorageBusy, StorageError
from kiro_learn.model.event import EventKind
from kiro_learn.services.hooks import Answered
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

BUDGET_SECONDS = 0.5
PROMPT = {"hook_event_name": "userPromptSubmit", "cwd": "/home/ada/shop", "prompt": "the token cache expires early"}
HEADERS = {"x-hook-event-id": f"00{7:024d}", "x-hook-process": "77", "x-hook-cwd": "/home/ada/shop"}


async def ask(services: Services, *, session: str | None = None) -> Answered:
    payload = PROMPT if session is None else PROMPT | {"session_id": session}
    with trio.fail_after(BUDGET_SECONDS + 0.001):
        return await services.hooks.take("kiro-cli", json.dumps(payload).encode(), HEADERS, retrieve=True)


async def count_events(services: Services) -> int:
    return (await services.queries.events(namespace=None, limit=9, cursor=None)).total


def test_a_commit_that_stands_still_leaves_the_event_pending_and_the_memories_told() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, model=HashEmbedder()) as services:
            project = await services.project_finder.project_of("/home/ada/shop")
            told = a_record(1, "The token cache expires early", "clock skew", namespace=project.namespace)
            await services.remember.put(told)
            await trio.sleep(100)
            storage.write_gate = trio.Event()
            answered = await ask(services, session="s")
            assert answered.is_pending
            assert "token cache" in answered.context
            assert await count_events(services) == 0
            storage.write_gate.set()
            await trio.sleep(1)
            assert await count_events(services) == 1
            assert (await services.health.status()).waiting.event_count == 1
            assert not (await ask(services, session="s")).is_pending, "the shim sends it again"
            assert await count_events(services) == 1
            await trio.sleep(60)
            assert (await services.health.status()).waiting.event_count == 0, "its project was told, and has learned it"

    simulate(scenario)


def test_a_session_that_cannot_be_looked_up_leaves_the_event_pending() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(100)
            storage.read_gate = trio.Event()
            assert await ask(services) == Answered("", is_pending=True)
            storage.read_gate.set()
            assert await ask(services) == Answered("", is_pending=False)
            assert await count_events(services) == 1

    simulate(scenario)


def test_a_prompt_over_the_api_is_pending_too() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(100)
            storage.write_gate = trio.Event()
            with trio.fail_after(BUDGET_SECONDS + 0.001):
                captured, _ = await services.prompt.take(an_event(1))
            assert captured.stored == "pending"
            storage.write_gate.set()

    simulate(scenario)


def test_a_tool_use_waits_until_it_is_durable() -> None:
    """No agent waits for an answer to a use of a tool, and a slow disk must not cause the work to be done twice."""

    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(100)
            gate = storage.write_gate = trio.Event()
            body = {"hook_event_name": "postToolUse", "cwd": "/home/ada/shop", "session_id": "s", "tool_name": "Bash"}
            async with trio.open_nursery() as nursery:

                async def open_gate() -> None:
                    await trio.sleep(2)
                    gate.set()

                nursery.start_soon(open_gate)
                answered = await services.hooks.take("kiro-cli", json.dumps(body).encode(), HEADERS, retrieve=True)
            assert answered == Answered()
            page = await services.queries.events(namespace=None, limit=9, cursor=None)
            assert [event.kind for event in page.items] == [EventKind.TOOL_USE]

    simulate(scenario)


def test_a_pending_event_that_the_store_refuses_in_the_end_is_kept_when_it_is_sent_again() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(100)
            storage.write_gate = trio.Event()
            storage.fail_next_write(StorageBusy("locked"))
            assert (await ask(services, session="s")).is_pending
            storage.write_gate.set()
            await trio.sleep(1)
            assert await count_events(services) == 0
            assert not (await ask(services, session="s")).is_pending
            assert await count_events(services) == 1

    simulate(scenario)


FULL = "there is no room for the database"


class FullDisk(InMemoryStorage):
    """A store that can be read, but has no room to write while ``is_full``."""

    is_full = False

    async def let_write(self) -> None:
        await super().let_write()
        if self.is_full:
            raise StorageError(FULL)


async def on_a_full_disk(services: Services, storage: FullDisk) -> None:
    project = await services.project_finder.project_of("/home/ada/shop")
    told = a_record(1, "The token cache expires early", "clock skew", namespace=project.namespace)
    await services.remember.put(told)
    await trio.sleep(100)
    storage.is_full = True


async def hook(services: Services, payload: dict[str, str]) -> Answered:
    with trio.fail_after(BUDGET_SECONDS + 0.001):
        return await services.hooks.take("kiro-cli", json.dumps(payload).encode(), HEADERS, retrieve=True)


@pytest.mark.parametrize("session", [{}, {"session_id": "s"}])
@pytest.mark.parametrize("event", ["userPromptSubmit", "agentSpawn"])
def test_a_full_disk_silences_no_memory_that_can_be_read(event: str, session: dict[str, str]) -> None:
    async def scenario() -> None:
        storage = FullDisk()
        async with simulated_daemon(storage=storage, model=HashEmbedder()) as services:
            await on_a_full_disk(services, storage)
            answered = await hook(services, PROMPT | session | {"hook_event_name": event})
            assert answered.is_pending
            assert "token cache" in answered.context
            assert await count_events(services) == 0
            storage.is_full = False
            await trio.sleep(1)
            assert not (await hook(services, PROMPT | session | {"hook_event_name": event})).is_pending
            assert await count_events(services) == 1

    simulate(scenario)


def test_on_a_full_disk_what_tells_nothing_is_refused() -> None:
    """The hook spools its report as if the daemon did not run, and tells the agent nothing either way."""

    async def scenario() -> None:
        storage = FullDisk()
        async with simulated_daemon(storage=storage) as services:
            await on_a_full_disk(services, storage)
            with pytest.raises(StorageError, match=FULL):
                await hook(services, PROMPT | {"hook_event_name": "stop", "assistant_response": "so"})

    simulate(scenario)
