"""The intake answers events and hooks as Quart would. Quart answers all else, after the same checks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
import trio

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.intake import Intake
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.runtime.supervisor import ErrorBoundary
from kiro_learn.testing.daemon import an_event, simulated_daemon
from kiro_learn.wire.messages import write_event
from tests.integration.http.bad_requests import BAD_REQUESTS
from tests.integration.http.serving import (
    PATIENT,
    SOON_SECONDS,
    TOKEN,
    Reply,
    Server,
    answering,
    in_real_time,
    serving,
    serving_all,
)

Case: TypeAlias = tuple[str, tuple[str, ...], bytes, bool]

POST = "POST /v1/events HTTP/1.1"
JSON = "Content-Type: application/json"
HOOK = "POST /v1/hooks/claude-code?retrieve=true HTTP/1.1"
PROMPT = b'{"hook_event_name": "UserPromptSubmit", "prompt": "Why is the build red?", "cwd": "/shop"}'


def an_event_as_json(number: int = 1, **options: Any) -> bytes:
    return json.dumps(write_event(an_event(number, **options))).encode()


def a_post(port: int, body: bytes, *lines: str) -> bytes:
    head = (POST, f"Host: 127.0.0.1:{port}", f"X-Worker-Token: {TOKEN}", f"Content-Length: {len(body)}", *lines, "", "")
    return "\r\n".join(head).encode() + body


async def answer(server: Server, lines: tuple[str, ...], body: bytes, known: bool) -> Reply:
    async with server.connection() as peer:
        await peer.send(*(line.replace("{port}", str(server.port)) for line in lines), body=body, known=known)
        reply = await peer.reply()
    reply.headers.pop("date", None)
    return reply


def slowly(seconds: float, inner: Any = None) -> Intake:
    """An intake that takes ``seconds`` for an event."""

    async def take(_request: Request) -> Answer:
        await trio.sleep(seconds)
        return json_answer("taken")

    return Intake(
        inner or answering(b"inner"),
        [Route("POST", "/v1/events", take)],
        ServerConfig(),
        TOKEN,
        new_boundary=ErrorBoundary,
    )


@asynccontextmanager
async def serving_by_quart() -> AsyncIterator[Server]:
    """The whole front end without the intake's own routes: Quart answers all, after the same checks."""
    async with simulated_daemon() as services:
        app = create_app(services, PATIENT, TOKEN, new_boundary=ErrorBoundary)
        assert isinstance(app.asgi_app, Intake)
        app.asgi_app._routes.clear()  # only Quart is left
        async with serving(app) as server:
            yield server


BAD_EVENTS = [bad for bad in BAD_REQUESTS if "/v1/events" in bad.lines[0] and bad.error != "request body too large"]
CASES: list[Case] = [
    *((bad.name, bad.lines, bad.body, bad.known) for bad in BAD_EVENTS),
    ("an event", (POST, JSON, f"Content-Length: {len(an_event_as_json())}"), an_event_as_json(), True),
    ("a large event", (POST, JSON, f"Content-Length: {len(an_event_as_json(text='x' * 200_000))}"),
     an_event_as_json(text="x" * 200_000), True),
    ("an event on a connection of its own", (POST, JSON, "Connection: close",
     f"Content-Length: {len(an_event_as_json())}"), an_event_as_json(), True),
    ("a hook", (HOOK, JSON, f"Content-Length: {len(PROMPT)}"), PROMPT, True),
    ("a hook on a connection of its own", (HOOK, JSON, "Connection: close", f"Content-Length: {len(PROMPT)}"), PROMPT,
     True),
    ("a hook without a body", (HOOK, "Content-Length: 0", "X-Hook-Event: Stop"), b"", True),
    ("a hook of another type", (HOOK, "Content-Type: text/plain", "Content-Length: 2"), b"{}", True),
    ("a hook with a bad query", (HOOK.replace("true", "%FF"), JSON, "Content-Length: 2"), b"{}", True),
    ("a hook of a stranger", (HOOK, "Host: 127.0.0.1:{port}", JSON, "Content-Length: 2"), b"{}", False),
    ("a hook of nobody", ("POST /v1/hooks/ HTTP/1.1", JSON, "Content-Length: 2"), b"{}", True),
    ("a hook below another", ("POST /v1/hooks/a/b HTTP/1.1", JSON, "Content-Length: 2"), b"{}", True),
    ("another type", (POST, "Content-Type: APPLICATION/JSON; charset=x", "Content-Length: 2"), b"{}", True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
@in_real_time
async def test_the_intake_answers_as_quart_does(case: Case) -> None:
    _, lines, body, known = case
    async with serving_all() as (short, _), serving_by_quart() as long:
        assert await answer(short, lines, body, known) == await answer(long, lines, body, known)


@in_real_time
async def test_events_and_other_requests_may_follow_each_other() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        for number in range(3):
            post = a_post(server.port, an_event_as_json(number), JSON)
            await peer.stream.send_all(post)
            assert (await peer.reply()).json["stored"]
            assert (await peer.ask("GET /healthz HTTP/1.1")).status == 200


@in_real_time
async def test_events_that_come_at_once_or_in_pieces_are_answered_in_order() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        three = b"".join(a_post(server.port, an_event_as_json(number), JSON) for number in range(3))
        await peer.stream.send_all(three)
        assert [reply.json["stored"] for reply in await peer.replies(3)] == [True] * 3
        fourth = a_post(server.port, an_event_as_json(4), JSON)
        for start in range(0, len(fourth), 100):
            await peer.stream.send_all(fourth[start : start + 100])
            await trio.sleep(0.001)
        assert (await peer.reply()).json["stored"]


@in_real_time
async def test_a_connection_that_was_used_for_events_is_closed_when_idle() -> None:
    async with serving_all(ServerConfig(port=0, keep_alive_seconds=1)) as (server, _), server.connection() as peer:
        for number in range(2):
            await trio.sleep(0.6)
            await peer.stream.send_all(a_post(server.port, an_event_as_json(number), JSON))
            assert (await peer.reply()).json["stored"]
        assert not await peer.is_closed_within(0.7)
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_a_stop_closes_a_connection_behind_its_last_event() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        await peer.stream.send_all(a_post(server.port, an_event_as_json(), JSON))
        assert (await peer.reply()).json["stored"]
        server.shutdown.set()
        assert await peer.is_closed_within(SOON_SECONDS)
        await server.stopped.wait()


@in_real_time
async def test_an_event_under_way_is_answered_although_the_server_stops() -> None:
    async with serving(slowly(0.3)) as server, server.connection() as peer:
        await peer.stream.send_all(a_post(server.port, b"{}", JSON))
        await trio.sleep(0.1)
        server.shutdown.set()
        assert (await peer.reply()).json == "taken"
        with trio.fail_after(SOON_SECONDS):
            await server.stopped.wait()


@in_real_time
async def test_an_event_may_take_longer_than_a_connection_may_be_idle() -> None:
    config = ServerConfig(port=0, keep_alive_seconds=1)
    async with serving(slowly(1.3), config) as server, server.connection() as peer:
        await peer.stream.send_all(a_post(server.port, b"{}", JSON))
        assert (await peer.reply()).json == "taken"


@in_real_time
async def test_a_body_may_come_behind_its_head() -> None:
    async with serving(slowly(0)) as server, server.connection() as peer:
        post = a_post(server.port, b"x" * 300_000, JSON)
        head = post.index(b"\r\n\r\n") + 4
        for cut in (head, head + 1, len(post) - 1):
            await peer.stream.send_all(post[:cut])
            await trio.sleep(0.01)
            await peer.stream.send_all(post[cut:])
            assert (await peer.reply()).json == "taken"


@in_real_time
async def test_a_client_that_asks_to_close_is_answered_and_closed() -> None:
    async with serving(slowly(0)) as server, server.connection() as peer:
        await peer.stream.send_all(a_post(server.port, b"{}", JSON, "Connection: close"))
        reply = await peer.reply()
        assert (reply.json, reply.headers["connection"]) == ("taken", "close")
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_a_stop_waits_for_a_body_that_is_on_its_way() -> None:
    async with serving(slowly(0)) as server, server.connection() as peer:
        post = a_post(server.port, b"{}", JSON)
        await peer.stream.send_all(post[:-1])
        await trio.sleep(0.02)
        server.shutdown.set()
        await trio.sleep(0.02)
        await peer.stream.send_all(post[-1:])
        assert (await peer.reply()).json == "taken"


@in_real_time
async def test_the_variable_part_of_a_path_is_decoded() -> None:
    async def take(request: Request) -> Answer:
        return json_answer(dict(request.path))

    routes = [Route("POST", "/v1/hooks/<agent>", take)]
    intake = Intake(answering(b"inner"), routes, PATIENT, TOKEN, new_boundary=ErrorBoundary)
    async with serving(intake) as server, server.connection() as peer:
        assert (await peer.ask("POST /v1/hooks/kiro%20cli HTTP/1.1")).json == {"agent": "kiro cli"}
        assert (await peer.ask("POST /v1/hooks/a/b HTTP/1.1")).body == b"inner"
        assert (await peer.ask("GET /v1/hooks/kiro-cli HTTP/1.1")).body == b"inner"


@in_real_time
async def test_a_fault_of_ours_is_answered_and_the_connection_goes_on() -> None:
    async def take(_request: Request) -> Answer:
        raise ZeroDivisionError

    intake = Intake(
        answering(b"inner"), [Route("POST", "/v1/events", take)], PATIENT, TOKEN, new_boundary=ErrorBoundary
    )
    async with serving(intake) as server, server.connection() as peer:
        for _ in range(2):
            await peer.stream.send_all(a_post(server.port, b"{}", JSON))
            reply = await peer.reply()
            assert (reply.status, reply.json) == (500, {"error": "internal error"})
