"""The loop of ``kiro-learn mcp`` over descriptors, whose numbers the system reuses."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import cast

import pytest

from kiro_learn.client.address import DaemonUnreachable
from kiro_learn.frontends.mcp import stdio
from kiro_learn.frontends.mcp.daemon import DaemonCall, DaemonStart, Started
from kiro_learn.frontends.mcp.stdio import Place, StdioServer
from kiro_learn.wire.mcp.protocol import Outcome


class StartThatIsOver:
    """A start whose result comes through a pipe, which is closed once it is read."""

    def __init__(self) -> None:
        self.descriptor: int | None = None
        self.is_over = False

    def begin(self) -> bool:
        if self.descriptor is None:
            self.descriptor, end = os.pipe()
            os.close(end)
        return True

    def take(self) -> Started:
        assert self.descriptor is not None
        os.close(self.descriptor)
        self.descriptor, self.is_over = None, True
        return Started()


def test_a_call_is_read_only_once_it_has_something_though_its_number_was_that_of_a_start_that_is_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If the body were read at once, it would delay other calls, and count as broken after five seconds."""
    start = StartThatIsOver()
    received: list[int] = []
    daemon: list[socket.socket] = []

    class Call:
        def __init__(self, home: Path, *_: object) -> None:
            if not start.is_over:
                raise DaemonUnreachable(home)
            self.socket, other = socket.socketpair()
            daemon.append(other)

        def receive(self) -> Outcome | None:
            received.append(self.socket.fileno())
            return None

        def close(self) -> None:
            self.socket.close()

    monkeypatch.setattr(stdio, "DaemonCall", cast("type[DaemonCall]", Call))
    server = StdioServer(tmp_path, Place(None, "s"), start=cast("DaemonStart", start))
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"x"}}}'
    monkeypatch.setattr(stdio, "_write_all", lambda _message: None)
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}'
    server._take(hello + b',"clientInfo":{"name":"a","version":"1"}}}')
    server._take(call)
    number = start.descriptor
    assert number is not None
    server._look_after({number})
    (pending,) = server._pending
    assert pending.call is not None
    assert pending.call.socket.fileno() == number
    assert received == []
    server._look_after({number})
    assert received == [number]
    for each in (pending.call.socket, *daemon):
        each.close()
