"""Kiro V3 and Kiro IDE report a turn's end without its answer: it is learned, and the answer once it comes."""

from __future__ import annotations

import json
from typing import Any

import trio

from kiro_learn.model.namespace import project_id_in
from kiro_learn.model.record import MemoryRecord
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import in_place, simulate

FOLDER = "/home/ada/shop"
ANSWER = "The expiry check ran before the refresh, so I swapped both calls in src/auth/session.ts; the tests pass now."


async def fire(services: Services, number: int, hook: str, **fields: Any) -> None:
    payload = {"hook_event_name": hook, "cwd": FOLDER, "session_id": "s", **fields}
    headers = {"x-hook-event-id": f"00{number:024d}", "x-hook-time": str(1_767_600_000_000 + number * 60_000)}
    await services.hooks.take("kiro", json.dumps(payload).encode(), headers, retrieve=True)


async def learned(services: Services) -> list[MemoryRecord]:
    namespace = (await services.project_finder.project_of(FOLDER)).namespace
    await services.learn.flush(project_id_in(namespace))
    await trio.sleep(1)
    return list((await services.queries.records(namespace=namespace, limit=10, offset=0)).items)


def words_of(records: list[MemoryRecord]) -> str:
    return " ".join(" ".join((record.title, record.summary, *record.facts)) for record in records)


def test_a_turn_without_an_answer_is_learned_and_its_answer_when_it_comes() -> None:
    async def scenario() -> None:
        async with simulated_daemon(llm=BuiltInLearner(in_place)) as services:
            await fire(services, 1, "SessionStart")
            prompt = "Always refresh the token before the expiry check, never after it. Why does the login drop?"
            await fire(services, 2, "UserPromptSubmit", prompt=prompt)
            await fire(
                services,
                3,
                "PostToolUse",
                tool_name="fsWrite",
                tool_input={"path": "src/auth/session.ts"},
                tool_response="ok",
            )
            await fire(services, 4, "Stop")
            first = await learned(services)
            assert "refresh the token before the expiry check" in words_of(first)
            await fire(services, 5, "stop", assistant_response=ANSWER)
            assert "swapped both calls" in words_of(await learned(services))

    simulate(scenario)


def test_an_empty_prompt_is_no_event_and_the_turns_tools_are() -> None:
    async def scenario() -> list[str]:
        async with simulated_daemon(llm=BuiltInLearner(in_place)) as services:
            await fire(services, 1, "UserPromptSubmit", prompt="")
            await fire(services, 2, "PostToolUse", tool_name="shell", tool_input={"command": "pnpm test"})
            await fire(services, 3, "Stop")
            await learned(services)
            page = await services.queries.events(namespace=None, limit=10, cursor=None)
            return [event.kind for event in page.items]

    assert simulate(scenario) == ["tool_use"]
