"""A step that two hooks report is taken once; a step that is done twice is taken twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.observation import Observation
from kiro_learn.services.capture import MOST_REPORTS, WINDOW_MS, RepeatedReports, step_key
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.wire.hooks import read_hook

START_MS = 1_767_600_000_000


async def fire(
    services: Services, number: int, agent: str, hook: str, *, after_ms: int = 0, process: str = "77", **fields: Any
) -> str:
    payload = {"hook_event_name": hook, "cwd": "/home/ada/shop", **fields}
    headers = {
        "x-hook-event-id": f"00{number:024d}",
        "x-hook-process": process,
        "x-hook-time": str(START_MS + after_ms),
    }
    return (await services.hooks.take(agent, json.dumps(payload).encode(), headers, retrieve=True)).context


async def events_of(services: Services) -> list[Event]:
    page = await services.queries.events(namespace=None, limit=100, cursor=None)
    return sorted(page.items, key=lambda event: event.event_id)


def kinds_after(*fired: tuple[str, str, dict[str, Any]]) -> list[EventKind]:
    async def scenario() -> list[EventKind]:
        async with simulated_daemon() as services:
            for number, (agent, hook, fields) in enumerate(fired):
                await fire(services, number, agent, hook, **fields)
                await trio.sleep(0.1)
            return [event.kind for event in await events_of(services)]

    return simulate(scenario)


def test_a_turn_that_two_hooks_report_is_taken_once() -> None:
    session = {"session_id": "s"}
    assert kinds_after(
        ("kiro-cli", "agentSpawn", session),
        ("kiro", "SessionStart", session),
        ("kiro-cli", "userPromptSubmit", {**session, "prompt": "why?"}),
        ("kiro", "UserPromptSubmit", {**session, "prompt": "why?"}),
        ("kiro-cli", "postToolUse", {**session, "tool_name": "shell", "tool_response": "ok"}),
        ("kiro", "PostToolUse", {**session, "tool_name": "shell", "tool_response": "ok"}),
        ("kiro-cli", "stop", {**session, "assistant_response": "so"}),
        ("kiro", "Stop", {**session, "assistant_response": "so"}),
    ) == [EventKind.NOTE, EventKind.PROMPT, EventKind.TOOL_USE, EventKind.SESSION_SUMMARY]


def test_without_a_session_id_the_process_tells() -> None:
    assert len(kinds_after(*[("kiro-cli", "userPromptSubmit", {"prompt": "why?"})] * 2)) == 1
    other = ("kiro-cli", "userPromptSubmit", {"prompt": "why?", "process": "78"})
    assert len(kinds_after(("kiro-cli", "userPromptSubmit", {"prompt": "why?"}), other)) == 2


def test_what_is_said_again_later_or_in_another_session_is_taken_again() -> None:
    later = {"session_id": "s", "prompt": "go on", "after_ms": WINDOW_MS + 1}
    assert (
        len(kinds_after(("codex", "UserPromptSubmit", {**later, "after_ms": 0}), ("codex", "UserPromptSubmit", later)))
        == 2
    )
    assert (
        len(
            kinds_after(
                *[("codex", "UserPromptSubmit", {"session_id": name, "prompt": "go on"}) for name in ("s", "t")]
            )
        )
        == 2
    )


@pytest.mark.parametrize("source", ["compact", "clear"])
def test_two_hooks_that_report_one_emptied_context_are_answered_once(source: str) -> None:
    """When the context is emptied again, one of the two is answered again."""

    async def scenario() -> list[bool]:
        async with simulated_daemon() as services:
            await services.observe.observe(Observation(project="/home/ada/shop", title="The pool holds twenty"))
            told = []
            for number, (agent, why, after_ms) in enumerate(
                [
                    ("kiro-cli", "startup", 0),
                    ("kiro", "startup", 90),
                    ("kiro-cli", source, 1_000),
                    ("kiro", source, 1_090),
                    ("kiro-cli", {"compact": "clear", "clear": "compact"}[source], 2_000),
                    ("kiro-cli", source, 60_000),
                    ("kiro", source, 60_090),
                ]
            ):
                fields = {"session_id": "s", "source": why}
                context = await fire(services, number, agent, "SessionStart", after_ms=after_ms, **fields)
                told.append(bool(context))
            return told

    assert simulate(scenario) == [True, False, True, False, True, True, False]


def test_a_request_that_is_sent_again_is_no_repeat_and_one_request_may_report_a_step_twice() -> None:
    turn = [{"tool_name": "shell", "tool_response": "ok"}] * 2
    payload = json.dumps({"hook_event_name": "postToolUse", "hook_events": turn, "session_id": "s"}).encode()
    reports = [(report, step_key(report)) for report in read_hook("kiro-cli", payload, {"x-hook-event-id": "0" * 26})]
    repeated = RepeatedReports()
    assert len(repeated.without_repeats(reports, now_ms=0)) == 2
    assert len(repeated.without_repeats(reports[1:], now_ms=0)) == 1
    others = [(report, key) for report, key in reports[:1]]
    [(other, _)] = [
        (report, step_key(report)) for report in read_hook("kiro-cli", payload, {"x-hook-event-id": "1" * 26})
    ][:1]
    assert repeated.without_repeats([(other, others[0][1])], now_ms=0) == []


def test_it_remembers_so_many() -> None:
    repeated = RepeatedReports()
    for number in range(MOST_REPORTS + 5):
        headers = {"x-hook-event-id": f"00{number:024d}"}
        payload = json.dumps({"hook_event_name": "Stop", "session_id": str(number), "text": "x"}).encode()
        reports = [(report, step_key(report)) for report in read_hook("codex", payload, headers)]
        assert len(repeated.without_repeats(reports, now_ms=number)) == 1
    assert len(repeated._seen) == MOST_REPORTS
