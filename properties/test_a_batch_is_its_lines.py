"""A batch of events stores and answers the same as its lines would, sent one by one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from kiro_learn.testing.simulation import simulate
from kiro_learn.wire.messages import write_event
from properties.stories import EVENT_IDS, NAMESPACES, events
from tests.unit.frontends.http.asking import Client, a_client

good = events().map(lambda each: json.dumps(write_event(each)).encode())


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    line = bytearray(draw(good))
    place = draw(st.integers(0, len(line) - 1))
    line[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=2)).replace(b"\n", b"")
    return bytes(line)


lines = st.lists(
    good | damaged() | st.sampled_from([b"", b"  ", b"\r", b"{}", b"[]", b"null", b"{", b"\xff"]), max_size=8
)


async def one_by_one(client: Client, sent: Sequence[bytes]) -> list[Any]:
    """The result of each line: true if it was stored, false for a repeat, or its problems."""
    found = []
    for line in sent:
        if line.strip():
            reply = (await client.post("/v1/events", line)).json
            found.append(reply.get("stored", reply.get("details")))
    return found


async def at_once(client: Client, sent: Sequence[bytes]) -> list[Any]:
    reply = await client.post("/v1/events/batch", b"\n".join(sent), kind="application/x-ndjson")
    assert reply.status == 200, reply.text
    answers = [json.loads(line) for line in reply.text.splitlines()]
    assert [answer["line"] for answer in answers] == [n for n, line in enumerate(sent, start=1) if line.strip()]
    return [answer.get("stored", answer.get("details")) for answer in answers]


def after(send: Callable[[Client, Sequence[bytes]], Awaitable[list[Any]]], sent: Sequence[bytes]) -> Any:
    """The answers, and all that is stored and waits after ``send``."""

    async def scenario() -> Any:
        async with a_client() as client:
            answers = await send(client, sent)
            stored = [await client.storage.get_event_by_id(each) for each in EVENT_IDS]
            waiting = [await client.storage.snapshot_buffer(each, most_bytes=10**9) for each in NAMESPACES]
            projects = (await client.get("/v1/status")).json["projects"]
            told = {each["namespace"]: (each["waiting_event_count"], each["waiting_bytes"]) for each in projects}
            return answers, stored, waiting, told

    return simulate(scenario)


@given(lines)
def test_a_batch_is_its_lines_one_after_the_other(sent: list[bytes]) -> None:
    # A first line that looks like UTF-16 is refused as a whole on both routes, which is another promise.
    sent = [b"{}", *sent]
    alone = after(one_by_one, sent)
    event(f"stored: {sum(each is True for each in alone[0])}")
    assert after(at_once, sent) == alone
