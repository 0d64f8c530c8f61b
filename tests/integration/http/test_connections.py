"""Connections end when they should, and not before."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import psutil
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.trio.worker_context import WorkerContext

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.patches import Connection
from kiro_learn.frontends.http.server import hypercorn_settings
from kiro_learn.testing.daemon import an_event
from kiro_learn.wire.messages import write_event
from tests.integration.http.serving import (
    PATIENT,
    SOON_SECONDS,
    Server,
    after,
    answering,
    in_real_time,
    serving,
    serving_all,
)

HEALTH = "GET /healthz HTTP/1.1"


def an_event_of(size_bytes: int) -> bytes:
    return json.dumps(write_event(an_event(1, text="x" * size_bytes))).encode()


@in_real_time
async def test_a_connection_serves_many_requests() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        for _ in range(5):
            assert (await peer.ask(HEALTH)).status == 200


def test_a_connection_is_not_closed_after_some_number_of_requests() -> None:
    """Hypercorn would hang up after a thousand requests, and a client that sends the next one at once would lose it."""
    assert hypercorn_settings(PATIENT).keep_alive_max_requests > 10**9


@in_real_time
async def test_requests_that_come_at_once_are_answered_in_order() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        for target in ("/healthz", "/v1/nowhere", "/healthz"):
            await peer.send(f"GET {target} HTTP/1.1")
        assert [reply.status for reply in await peer.replies(3)] == [200, 404, 200]


@in_real_time
async def test_a_client_that_wants_no_more_is_hung_up_on() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        assert (await peer.ask(HEALTH, "Connection: close")).status == 200
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_an_old_client_may_read_to_the_end() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        await peer.send("GET /healthz HTTP/1.0")
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_an_idle_connection_is_closed() -> None:
    async with serving_all(ServerConfig(port=0, keep_alive_seconds=1)) as (server, _), server.connection() as peer:
        assert (await peer.ask(HEALTH)).status == 200
        assert not await peer.is_closed_within(0.7)
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_half_a_head_is_waited_for_no_longer_than_a_request_may_take() -> None:
    async with serving_all(ServerConfig(port=0, read_seconds=1)) as (server, _), server.connection() as peer:
        await peer.stream.send_all(b"GET /heal")
        assert not await peer.is_closed_within(0.7)
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_half_a_body_is_refused_in_time() -> None:
    async with serving_all(ServerConfig(port=0, read_seconds=1)) as (server, _), server.connection() as peer:
        await peer.send("POST /v1/events HTTP/1.1", "Content-Type: application/json", "Content-Length: 99", body=b"{")
        reply = await peer.reply()
        assert (reply.status, reply.json) == (408, {"error": "the request came too slowly"})
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_an_answer_may_take_longer_than_a_request() -> None:
    """As for a flush: the client's time to send a request does not run while it waits for an answer."""
    config = ServerConfig(port=0, read_seconds=1, keep_alive_seconds=1)
    async with serving(after(1.3), config) as server, server.connection() as peer:
        assert (await peer.ask("GET / HTTP/1.1")).body == b"done"


@in_real_time
async def test_a_body_may_come_in_chunks() -> None:
    body = an_event_of(10)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    async with serving_all() as (server, _), server.connection() as peer:
        head = ("POST /v1/events HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
        assert (await peer.ask(*head, body=chunks)).json["stored"]
        assert (await peer.ask(HEALTH)).status == 200


@in_real_time
async def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        reply = await peer.ask("POST /v1/events HTTP/1.1", f"Content-Length: {10**12}")
        assert (reply.status, reply.json["error"]) == (413, "request body too large")
        assert await peer.is_closed_within(SOON_SECONDS)


@in_real_time
async def test_a_client_that_sends_too_much_can_still_read_why_it_was_refused() -> None:
    """The rest is read and dropped: closing a socket with unread bytes would destroy the answer."""
    config = ServerConfig(port=0, max_body_bytes=100_000)
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    for framing, body in (
        ("Content-Length: 1000000", b"x" * 1_000_000),
        ("Transfer-Encoding: chunked", chunk * 20 + b"0\r\n\r\n"),
    ):
        async with serving_all(config) as (server, _), server.connection() as peer:
            await peer.send("POST /v1/events HTTP/1.1", framing, body=body)
            assert (await peer.reply()).status == 413


@in_real_time
async def test_the_largest_body_is_taken() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        body = an_event_of(1_048_000)
        head = ("POST /v1/events HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}")
        assert (await peer.ask(*head, body=body)).json["stored"]


@in_real_time
async def test_a_batch_may_be_larger_than_other_requests() -> None:
    lines = [json.dumps(write_event(an_event(number, text="x" * 30_000))).encode() for number in range(200)]
    body = b"\n".join(lines)
    assert len(body) > PATIENT.max_body_bytes
    async with serving_all() as (server, _), server.connection() as peer:
        reply = await peer.ask(*a_batch_of(len(body)), body=body)
        assert [json.loads(line)["stored"] for line in reply.body.splitlines()] == [True] * 200


@in_real_time
async def test_nothing_of_a_batch_is_stored_whose_sender_hung_up_within_it() -> None:
    body = an_event_of(10) + b"\n" + an_event_of(20)
    async with serving_all() as (server, services):
        async with server.connection() as peer:
            await peer.send(*a_batch_of(len(body) + 1), body=body)
        await trio.sleep(0.1)
        assert (await services.queries.events(namespace=None, limit=10, cursor=None)).total == 0


def a_batch_of(size_bytes: int) -> tuple[str, ...]:
    return (
        "POST /v1/events/batch HTTP/1.1", "Content-Type: application/x-ndjson", f"Content-Length: {size_bytes}",
    )  # fmt: skip


@in_real_time
async def test_a_client_is_told_to_go_on_with_its_body() -> None:
    body = an_event_of(10)
    async with serving_all() as (server, _), server.connection() as peer:
        await peer.send(
            "POST /v1/events HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}",
            "Expect: 100-continue",
        )  # fmt: skip
        assert (await peer.stream.receive_some(1000)).startswith(b"HTTP/1.1 100")
        await peer.stream.send_all(body)
        assert (await peer.reply()).json["stored"]


@in_real_time
async def test_an_event_is_stored_although_its_sender_went_away() -> None:
    body = an_event_of(10)
    async with serving_all() as (server, services):
        async with server.connection() as peer:
            await peer.send(
                "POST /v1/events HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}", body=body
            )
        await trio.sleep(0.1)
        assert (await services.queries.events(namespace=None, limit=10, cursor=None)).total == 1


@in_real_time
async def test_clients_that_come_and_go_leave_nothing_open() -> None:
    async with serving_all() as (server, _):
        before = psutil.Process().num_fds()
        for _ in range(4):
            async with trio.open_nursery() as nursery:
                for _ in range(25):
                    nursery.start_soon(come_and_go, server)
        await trio.sleep(0.1)
        assert psutil.Process().num_fds() <= before


async def come_and_go(server: Server) -> None:
    async with server.connection() as peer:
        assert (await peer.ask(HEALTH)).status == 200


@in_real_time
async def test_a_stop_does_not_wait_for_requests_that_came_behind_the_last_one() -> None:
    async with serving(after(0.2)) as server, server.connection() as peer:
        await peer.send("GET / HTTP/1.1")
        await peer.send("GET / HTTP/1.1")
        await trio.sleep(0.1)
        server.shutdown.set()
        assert (await peer.reply()).body == b"done"
        with trio.fail_after(SOON_SECONDS):
            await server.stopped.wait()


@in_real_time
async def test_a_request_that_begins_as_reading_ends_is_told_that_its_client_is_gone() -> None:
    """A stop, or the end of an earlier answer, may come between the request's head and its body."""
    connections: list[Connection] = []
    heard: list[str] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        connections[0].stop_reading()
        heard.append((await receive())["type"])

    async def handle(stream: trio.SocketStream) -> None:
        settings, context = hypercorn_settings(PATIENT), WorkerContext(max_requests=None)
        connections.append(Connection(ASGIWrapper(app), settings, context, stream, PATIENT))
        await connections[0].run()

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        async with await trio.open_tcp_stream("127.0.0.1", listener.socket.getsockname()[1]) as peer:
            await peer.send_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
            with trio.move_on_after(1):
                await peer.receive_some()
        nursery.cancel_scope.cancel()
    assert heard == ["http.disconnect"]


@in_real_time
async def test_a_stop_closes_idle_connections_at_once_and_finishes_what_is_under_way() -> None:
    is_idle_closed = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await is_idle_closed.wait()
        await answering(b"done")(scope, receive, send)

    async with serving(app) as server, server.connection() as idle, server.connection() as busy:
        await idle.stream.send_all(b"G")
        await busy.send("GET / HTTP/1.1")
        await trio.sleep(0.1)
        server.shutdown.set()
        assert await idle.is_closed_within(SOON_SECONDS)
        is_idle_closed.set()
        assert (await busy.reply()).body == b"done"
        await server.stopped.wait()


@in_real_time
async def test_a_stop_waits_no_longer_than_it_may() -> None:
    config = ServerConfig(port=0, drain_seconds=0.2)
    async with serving(after(60), config) as server, server.connection() as busy:
        await busy.send("GET / HTTP/1.1")
        await trio.sleep(0.1)
        server.shutdown.set()
        with trio.fail_after(SOON_SECONDS):
            await server.stopped.wait()


@in_real_time
async def test_a_client_that_does_not_read_holds_up_no_stop() -> None:
    config = ServerConfig(port=0, write_seconds=0.3, drain_seconds=0.1)
    async with serving(answering(b"x" * 50_000_000), config) as server, server.connection() as peer:
        await peer.send("GET / HTTP/1.1")
        await trio.sleep(0.1)
        server.shutdown.set()
        with trio.fail_after(SOON_SECONDS):
            await server.stopped.wait()
