"""Opening a port, and naming the program that has it."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

import psutil
import pytest
import trio

from kiro_learn.config import ServerConfig
from kiro_learn.errors import ConfigError, PortTaken
from kiro_learn.frontends.http.server import open_listener, serve_http, turn_callers_away
from kiro_learn.runtime.supervisor import catch_errors
from tests.integration.http.serving import answering, in_real_time, serving


def test_a_taken_port_names_its_owner() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken) as caught:
            trio.run(open_listener, ServerConfig(port=port))
    name = psutil.Process().name()
    assert f'port {port} is taken by "{name}" (pid {os.getpid()})' in str(caught.value)


def test_a_port_whose_owner_cannot_be_seen_belongs_to_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str) -> list[object]:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", refuse)
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(PortTaken, match="another user's process"):
        trio.run(open_listener, ServerConfig(port=other.getsockname()[1]))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may listen anywhere")
def test_a_port_that_is_not_ours_to_take_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match=r"server\.port: 1 cannot be listened on"):
        trio.run(open_listener, ServerConfig(port=1))


@in_real_time
async def test_the_port_of_a_daemon_that_stopped_is_free_at_once() -> None:
    async with serving(answering(b"one")) as server, server.connection() as peer:
        await peer.ask("GET / HTTP/1.1")
        server.shutdown.set()
        await server.stopped.wait()
        async with serving(answering(b"two"), ServerConfig(port=server.port)) as next_server:
            assert next_server.port == server.port


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_started_tells_the_address(host: str) -> None:
    async def scenario() -> None:
        shutdown = trio.Event()
        async with trio.open_nursery() as nursery:

            async def serve(*, task_status: trio.TaskStatus[tuple[str, int]]) -> None:
                config = ServerConfig(host=host, port=0)  # type: ignore[arg-type]  # one of them
                await serve_http(
                    answering(b""), config, shutdown=shutdown, catch_errors=catch_errors, task_status=task_status
                )

            address = await nursery.start(serve)
            (await trio.open_tcp_stream(*address)).socket.close()
            shutdown.set()

    trio.run(scenario)


@in_real_time
async def test_while_nothing_can_be_answered_callers_are_turned_away_at_once_and_served_later() -> None:
    config, shutdown = ServerConfig(port=0), trio.Event()
    listener = await open_listener(config)
    host, port = listener.socket.getsockname()
    async with trio.open_nursery() as upgrading:
        upgrading.start_soon(turn_callers_away, listener)
        for _ in range(3):
            async with await trio.open_tcp_stream(host, port) as caller:
                await caller.send_all(b"GET / HTTP/1.1\r\n")  # Linux accepts only clients that send
                with suppress(trio.BrokenResourceError):
                    assert await caller.receive_some() == b""
        upgrading.cancel_scope.cancel()

    async def serve(*, task_status: trio.TaskStatus[tuple[str, int]]) -> None:
        await serve_http(
            answering(b"one"),
            config,
            shutdown=shutdown,
            catch_errors=catch_errors,
            listener=listener,
            task_status=task_status,
        )

    async with trio.open_nursery() as serving_now:
        assert await serving_now.start(serve) == (host, port)
        async with await trio.open_tcp_stream(host, port) as caller:
            await caller.send_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"one" in b"".join([chunk async for chunk in caller])
        shutdown.set()
