"""A hook's report becomes one event in the right project and session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import Event, EventKind
from kiro_learn.services import hooks
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import Letter, Letterbox, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.wire.hooks import HookReport, read_hook


def letter(number: int, hook: str, process: str = "77", **fields: Any) -> Letter:
    payload = {"hook_event_name": hook, "cwd": "/home/ada/shop", **fields}
    headers = {"x-hook-event-id": f"00{number:024d}", "x-hook-process": process, "x-hook-cwd": "/home/ada/shop"}
    return Letter("kiro-cli", headers, json.dumps(payload).encode())


async def events_of(services: Services) -> list[Event]:
    page = await services.queries.events(namespace=None, limit=100, cursor=None)
    return sorted(page.items, key=lambda event: event.event_id)


def taken(*letters: Letter, storage: InMemoryStorage | None = None) -> tuple[list[Event], int]:
    box = Letterbox(list(letters))

    async def scenario() -> list[Event]:
        async with simulated_daemon(hook_spool=box, storage=storage) as services:
            await trio.sleep(100)
            return await events_of(services)

    return simulate(scenario), len(box.letters)


def test_late_hooks_are_taken_in_order_and_forgotten() -> None:
    events, left = taken(
        letter(1, "agentSpawn"),
        letter(2, "userPromptSubmit", prompt="why?"),
        letter(3, "stop", assistant_response="so"),
    )

    assert [event.kind for event in events] == [EventKind.NOTE, EventKind.PROMPT, EventKind.SESSION_SUMMARY]
    assert left == 0


API = "/home/ada/shop/packages/api"


def projects_of(events: Sequence[Event]) -> list[str | None]:
    return [event.source.project_path for event in events]


def in_folder(number: int, folder: str, session_id: str = "s") -> Letter:
    return letter(number, "userPromptSubmit", session_id=session_id, prompt=f"step {number}", cwd=folder)


def test_a_session_of_a_repository_stays_in_it_when_it_goes_into_a_package() -> None:
    events, _ = taken(in_folder(1, "/home/ada/shop"), in_folder(2, API), in_folder(3, "/home/ada/shop"))
    assert projects_of(events) == ["/home/ada/shop"] * 3
    assert len({event.namespace for event in events}) == 1


def test_a_session_that_begins_in_a_package_is_of_the_package_whenever_it_is_there() -> None:
    events, _ = taken(in_folder(1, API), in_folder(2, "/home/ada/shop"), in_folder(3, API), in_folder(4, API, "other"))
    assert projects_of(events) == [API, "/home/ada/shop", API, API]


def test_a_session_that_went_into_a_package_stays_in_its_repository_after_a_restart() -> None:
    storage = InMemoryStorage()
    taken(in_folder(1, "/home/ada/shop"), storage=storage)
    events, _ = taken(in_folder(2, API), storage=storage)
    assert projects_of(events) == ["/home/ada/shop"] * 2


def test_a_session_that_began_in_a_package_is_of_it_after_a_restart_too() -> None:
    storage = InMemoryStorage()
    taken(in_folder(1, API), in_folder(2, "/home/ada/shop"), storage=storage)
    events, _ = taken(in_folder(3, API), storage=storage)
    assert projects_of(events) == [API, "/home/ada/shop", API]


def test_a_paused_package_is_paused_for_sessions_of_its_repository_too() -> None:
    box = Letterbox([])

    async def scenario() -> list[Event]:
        async with simulated_daemon(hook_spool=box) as services:
            package = await services.project_finder.project_of(API)
            await services.pauses.pause(package.namespace, None)
            for number, folder in enumerate(("/home/ada/shop", API), start=1):
                sent = in_folder(number, folder)
                await services.hooks.take(sent.agent, sent.payload, sent.headers, retrieve=False)
            return await events_of(services)

    assert projects_of(simulate(scenario)) == ["/home/ada/shop"]


def test_what_waits_is_one_commit() -> None:
    async def scenario() -> int:
        storage = InMemoryStorage()
        box = Letterbox([letter(number, "userPromptSubmit", session_id="s", prompt="why?") for number in range(90)])
        async with simulated_daemon(hook_spool=box, storage=storage) as services:
            await trio.sleep(1)
            assert len(await events_of(services)) == 90
            return storage.commit_count

    assert simulate(scenario) <= 2


def test_what_is_made_of_a_report_keeps_every_limit_of_an_event() -> None:
    """The event is made without validators, which would find no error."""
    long = "x" * 5_000
    events, _ = taken(
        letter(1, "agentSpawn", process=long, cwd=f"/{long[:2_000]}", session_id=long),
        letter(2, "postToolUse", session_id="é" * 128, tool_name=long, tool_input={long: [long]}, cwd=""),
        letter(3, "userPromptSubmit", prompt=long, session_id=""),
        Letter("kiro-cli", {}, b'{"hook_event_name": "stop", "assistant_response": "\\ud800"}'),
    )
    assert len(events) == 4
    for event in events:
        attrs.validate(event)
        attrs.validate(event.source)
        attrs.validate(event.body)
        assert event.schema_version == 1


def test_a_late_hook_that_comes_twice_is_stored_once() -> None:
    events, _ = taken(letter(1, "userPromptSubmit", prompt="why?"), letter(1, "userPromptSubmit", prompt="why?"))

    assert len(events) == 1


def test_a_store_that_fails_leaves_them_waiting_until_it_does_not() -> None:
    storage = InMemoryStorage()
    storage.fail_next_write(StorageBusy("locked"))

    events, left = taken(letter(1, "userPromptSubmit", prompt="why?"), storage=storage)

    assert (len(events), left) == (1, 0)


def test_a_request_that_meets_a_defect_of_ours_is_put_aside_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = read_hook

    def read(agent: str, payload: bytes, headers: Mapping[str, str]) -> Sequence[HookReport]:
        if b"poison" in payload:
            raise TypeError
        return real(agent, payload, headers)

    monkeypatch.setattr(hooks, "read_hook", read)
    box = Letterbox([letter(n, "userPromptSubmit", prompt=text) for n, text in enumerate(["a", "poison", "b"])])

    async def scenario() -> None:
        async with simulated_daemon(hook_spool=box) as services:
            await trio.sleep(1)
            assert len(await events_of(services)) == 2
            assert (await services.health.status()).spool.is_drained

    simulate(scenario)
    assert (len(box.letters), len(box.damaged)) == (0, 1)


def test_an_agent_that_names_no_session_has_one_a_process_until_it_starts_again() -> None:
    events, _ = taken(
        letter(1, "userPromptSubmit", prompt="a"),
        letter(2, "userPromptSubmit", prompt="b"),
        letter(3, "userPromptSubmit", process="78", prompt="c"),
        letter(4, "agentSpawn"),
        letter(5, "userPromptSubmit", prompt="d"),
    )
    first, second, other, spawn, third = (event.session_id for event in events)

    assert first == second
    assert spawn == third
    assert len({first, other, third}) == 3


def test_junk_is_forgotten_without_an_event() -> None:
    events, left = taken(Letter("kiro-cli", {}, b"\xff{"), Letter("nobody", {}, b"{}"))

    assert (events, left) == ([], 0)
