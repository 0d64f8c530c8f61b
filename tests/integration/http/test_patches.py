"""Each defect of Hypercorn or Quart-Trio that we patch still exists. When a test fails, its patch can go."""

from __future__ import annotations

from typing import Any

import pytest
import quart
import trio
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.typing import ConnectionState
from quart_trio import QuartTrio

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http import server as server_module
from kiro_learn.frontends.http.patches import Connection
from tests.integration.http.serving import SOON_SECONDS, answering, in_real_time, serving

CLOSED = -1
"""The descriptor of a closed socket."""


class Unmended(TCPServer):
    """Hypercorn's own server, which ignores the number of places."""

    is_silent = False


def unmended(
    app: Any, config: Any, context: Any, stream: trio.SocketStream, *_ours: object, **_named: object
) -> TCPServer:
    return Unmended(app, config, context, ConnectionState({}), stream)  # type: ignore[arg-type]  # no TLS here


def plain_quart() -> QuartTrio:
    app = QuartTrio(__name__)

    @app.route("/")
    async def answer() -> quart.Response:
        return quart.Response("done")

    return app


@in_real_time
async def test_without_the_intake_quart_trio_leaves_connections_open() -> None:
    async with serving(plain_quart()) as server, server.connection() as peer:
        assert (await peer.ask("GET / HTTP/1.1", "Connection: close")).body == b"done"
        assert not await peer.is_closed_within(0.5)


@pytest.fixture
def unmended_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "Connection", unmended)


@pytest.mark.usefixtures("unmended_connections")
@in_real_time
async def test_hypercorn_waits_for_ever_for_a_client_that_does_not_read() -> None:
    config = ServerConfig(port=0, write_seconds=0.1, drain_seconds=0.1)
    async with serving(answering(b"x" * 50_000_000), config) as server, server.connection() as peer:
        await peer.send("GET / HTTP/1.1")
        await trio.sleep(0.1)
        server.shutdown.set()
        with trio.move_on_after(0.6):
            await server.stopped.wait()
        assert not server.stopped.is_set()


@in_real_time
async def test_hypercorn_keeps_the_socket_of_a_client_that_hung_up(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted: list[trio.SocketStream] = []
    """Kept here, so that no socket is closed by garbage collection."""

    def noting(
        app: Any, config: Any, context: Any, stream: trio.SocketStream, *ours: object, **_named: object
    ) -> TCPServer:
        accepted.append(stream)
        return unmended(app, config, context, stream, *ours)

    monkeypatch.setattr(server_module, "Connection", noting)
    async with serving(answering(b"done")) as server:
        for _ in range(20):  # it depends on which of two tasks ends first
            for _ in range(5):
                async with server.connection() as peer:
                    await peer.ask("GET / HTTP/1.1")
            await trio.sleep(0.2)
            kept = [stream for stream in accepted if stream.socket.fileno() != CLOSED]
            if kept:
                break
    for stream in kept:
        stream.socket.close()
    assert kept


@pytest.mark.usefixtures("unmended_connections")
@in_real_time
async def test_hypercorn_waits_for_the_rest_of_a_head_as_long_as_for_the_next_request() -> None:
    config = ServerConfig(port=0, read_seconds=1)
    async with serving(answering(b"done"), config) as server, server.connection() as peer:
        await peer.stream.send_all(b"GET / HT")
        assert not await peer.is_closed_within(1.3)


@pytest.mark.usefixtures("unmended_connections")
@in_real_time
async def test_hypercorn_changes_to_any_protocol_that_a_client_asks_for() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    async with serving(app) as server, server.connection() as peer:
        await peer.send(
            "GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        )  # fmt: skip
        await peer.is_closed_within(0.3)
    assert seen == ["websocket"]


@pytest.mark.parametrize(("connection", "pieces"), [(unmended, 2), (Connection, 1)])
@in_real_time
async def test_hypercorn_sends_head_and_body_of_an_answer_apart(
    monkeypatch: pytest.MonkeyPatch, connection: Any, pieces: int
) -> None:
    sent: list[bytes] = []
    send_all = trio.SocketStream.send_all

    async def listen(stream: trio.SocketStream, data: bytes) -> None:
        if b"done" in data or data.startswith(b"HTTP"):
            sent.append(data)
        await send_all(stream, data)

    monkeypatch.setattr(server_module, "Connection", connection)
    async with serving(answering(b"done")) as server, server.connection() as peer:
        monkeypatch.setattr(trio.SocketStream, "send_all", listen)
        await peer.ask("GET / HTTP/1.1")
        monkeypatch.undo()
    assert len(sent) == pieces


@in_real_time
async def test_a_connection_that_breaks_is_no_trouble_of_the_server() -> None:
    with pytest.MonkeyPatch.context() as patch:
        async with serving(answering(b"done")) as server:
            patch.setattr(server_module, "Connection", Broken)
            async with server.connection() as peer:
                await peer.stream.send_all(b"G")  # it is accepted once it has sent a byte
                assert await peer.is_closed_within(SOON_SECONDS)
            patch.undo()
            async with server.connection() as peer:
                assert (await peer.ask("GET / HTTP/1.1")).body == b"done"


class Broken:
    """A connection that raises an unexpected error."""

    def __init__(self, *_parts: object, **_ours: object) -> None:
        pass

    async def run(self) -> None:
        await trio.lowlevel.checkpoint()
        raise ZeroDivisionError
