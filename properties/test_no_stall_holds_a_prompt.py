"""If the store stalls at any time for any length, a prompt is answered in its budget and stored exactly once."""

from __future__ import annotations

import json

import trio
from hypothesis import strategies as st

from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import Letter, Letterbox, simulated_daemon
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage

STALLS = st.lists(st.tuples(st.sampled_from(["read", "write", "both"]), st.floats(0, 2), st.floats(0, 4)), max_size=4)
"""Stalls: what stalls, after how long a pause, and for how long."""

PROMPTS = st.lists(st.tuples(st.floats(0, 2), st.booleans()), min_size=1, max_size=6)
"""Prompts: the pause before each, and whether its agent names the session."""


async def stall(storage: InMemoryStorage, stalls: list[tuple[str, float, float]]) -> None:
    for what, pause, length in stalls:
        await trio.sleep(pause)
        gate = trio.Event()
        if what in {"read", "both"}:
            storage.read_gate = gate
        if what in {"write", "both"}:
            storage.write_gate = gate
        await trio.sleep(length)
        gate.set()


def letter(number: int, *, names_session: bool) -> Letter:
    payload = {"hook_event_name": "userPromptSubmit", "cwd": "/home/ada/shop", "prompt": f"why does it fail, {number}?"}
    if names_session:
        payload["session_id"] = "s"
    headers = {"x-hook-event-id": f"00{number:024d}", "x-hook-process": "77"}
    return Letter("kiro-cli", headers, json.dumps(payload).encode())


async def report(services: Services, spool: Letterbox, sent: Letter) -> None:
    """Report a hook as the shim does."""
    with trio.fail_after(0.501):
        answered = await services.hooks.take(sent.agent, sent.payload, sent.headers, retrieve=True)
    if answered.is_pending:
        spool.letters.append(sent)


@scheduled(stalls=STALLS, prompts=PROMPTS)
async def test_a_prompt_is_answered_in_time_and_stored_once(
    stalls: list[tuple[str, float, float]], prompts: list[tuple[float, bool]]
) -> None:
    """A pending prompt that is sent again is one event, which waits in one buffer or was learned once."""
    storage, spool = InMemoryStorage(), Letterbox()
    async with simulated_daemon(storage=storage, hook_spool=spool) as services:
        await trio.sleep(100)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stall, storage, stalls)
            for number, (pause, names_session) in enumerate(prompts):
                await trio.sleep(pause)
                nursery.start_soon(report, services, spool, letter(number, names_session=names_session))
        await trio.sleep(300)
        page = await services.queries.events(namespace=None, limit=99, cursor=None)
        memories = await services.queries.records(namespace=None, limit=99, offset=0)
        status = await services.health.status()

    assert not spool.letters
    assert sorted(event.event_id for event in page.items) == [f"00{number:024d}" for number in range(len(prompts))]
    assert status.waiting.event_count == 0
    cited = sorted(event_id for record in memories.items for event_id in record.source_event_ids)
    assert cited == sorted(set(cited)), "nothing is learned twice"
    assert len(cited) == len(prompts)
