"""The server on a real port, and clients that send and read bytes."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import h11
import trio
from hypercorn.typing import ASGIFramework

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.answers import Contain
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.server import serve_http
from kiro_learn.runtime.supervisor import ErrorBoundary, catch_errors
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon

TOKEN = "the token of this test"
PATIENT = ServerConfig(port=0)
SOON_SECONDS = 3.0
"""The limit for things that an idle machine does at once. PATIENT's limits are five seconds and more."""


@attrs.frozen
class Reply:
    """One answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@attrs.frozen
class Server:
    """A running server."""

    port: int
    shutdown: trio.Event
    stopped: trio.Event

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Peer]:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        async with stream:
            yield Peer(stream, self.port)


@attrs.frozen
class Peer:
    """The client's end of a connection."""

    stream: trio.SocketStream
    port: int

    async def send(self, *lines: str, body: bytes = b"", known: bool = True) -> None:
        """Send a head made of ``lines``, with our host and token unless we are not ``known``, and a body."""
        usual = [f"Host: 127.0.0.1:{self.port}", f"X-Worker-Token: {TOKEN}"] if known else []
        await self.stream.send_all("\r\n".join([*lines[:1], *usual, *lines[1:], "", ""]).encode("latin-1") + body)

    async def replies(self, count: int = 1) -> list[Reply]:
        """The next complete answers."""
        connection = h11.Connection(h11.CLIENT)
        found: list[Reply] = []
        while len(found) < count:
            connection.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
            connection.send(h11.EndOfMessage())
            found.append(await self._reply(connection))
            if len(found) < count:
                connection.start_next_cycle()
        return found

    async def reply(self) -> Reply:
        return (await self.replies())[0]

    async def ask(self, *lines: str, body: bytes = b"") -> Reply:
        await self.send(*lines, body=body)
        return await self.reply()

    async def is_closed_within(self, seconds: float) -> bool:
        """Whether the server hangs up within ``seconds``."""
        with trio.move_on_after(seconds):
            while await self._receive():
                pass
            return True
        return False

    async def _receive(self) -> bytes:
        try:
            return bytes(await self.stream.receive_some(65_536))
        except trio.BrokenResourceError:
            return b""

    async def _reply(self, connection: h11.Connection) -> Reply:
        head, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await self._receive())
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                return Reply(head.status_code, {k.decode(): v.decode() for k, v in head.headers}, body)


@asynccontextmanager
async def serving(
    app: Any, config: ServerConfig = PATIENT, *, catch_errors: Contain = catch_errors
) -> AsyncIterator[Server]:
    """Serve any ASGI application; at the end of the block the server is told to stop, and waited for."""
    shutdown, stopped = trio.Event(), trio.Event()

    async def serve(*, task_status: trio.TaskStatus[tuple[str, int]]) -> None:
        await serve_http(app, config, shutdown=shutdown, catch_errors=catch_errors, task_status=task_status)
        stopped.set()

    async with trio.open_nursery() as nursery:
        _host, port = await nursery.start(serve)
        yield Server(port, shutdown, stopped)
        shutdown.set()


@asynccontextmanager
async def serving_all(
    config: ServerConfig = PATIENT, *, catch_errors: Contain = catch_errors
) -> AsyncIterator[tuple[Server, Services]]:
    """Serve the whole front end over a daemon of fakes, in real time."""
    async with simulated_daemon() as services:
        app = create_app(services, config, TOKEN, new_boundary=ErrorBoundary)
        async with serving(app, config, catch_errors=catch_errors) as server:
            yield server, services


def in_real_time(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a test of an async function that is quick. Its failure is raised without the groups of nurseries."""

    @functools.wraps(scenario)
    def test(**given: Any) -> None:
        async def run() -> None:
            with trio.fail_after(15):
                await scenario(**given)

        try:
            trio.run(run)
        except BaseExceptionGroup as group:
            raise only_cause(group) from None

    return test


def answering(body: bytes) -> ASGIFramework:
    """An application that answers every request with ``body`` at once."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


def after(seconds: float) -> ASGIFramework:
    """An application that answers after ``seconds``."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await trio.sleep(seconds)
        await answering(b"done")(scope, receive, send)

    return app


def only_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error that ended a nursery. Others are its consequences, or came too late."""
    first = group.exceptions[0]
    return only_cause(first) if isinstance(first, BaseExceptionGroup) else first
