"""With any bytes in any pieces, and however the client leaves, our code does not fail on a connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import TypeVar

import pytest
import trio

from tests.integration.http.serving import TOKEN, Server, in_real_time, serving_all

HANG_UP_RUDELY = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: the socket is reset instead of closed."""

T = TypeVar("T")


def seeds(port: int) -> list[bytes]:
    ours = f"Host: 127.0.0.1:{port}\r\nX-Worker-Token: {TOKEN}\r\n"
    post = f"POST /v1/events HTTP/1.1\r\n{ours}Content-Type: application/json\r\n"
    upgrade = f"GET /v1/live HTTP/1.1\r\n{ours}Connection: Upgrade\r\nUpgrade: "
    requests = (
        f"GET /healthz HTTP/1.1\r\n{ours}\r\n" * 5,
        f"HEAD /healthz HTTP/1.1\r\n{ours}\r\n",
        f"CONNECT a:1 HTTP/1.1\r\n{ours}\r\n",
        f"GET /%zz?%zz HTTP/1.1\r\n{ours}\r\n",
        f"GET ? HTTP/1.1\r\n{ours}\r\n",
        f"{post}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\nX: y\r\n\r\n",
        f"{post}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{{}}",
        f"{post}Content-Length: 99999999\r\n\r\n" + "x" * 300_000,
        f"{upgrade}websocket\r\n\r\n",
        f"{upgrade}websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nhello",
        f"{upgrade}h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
    )
    return [request.encode() for request in requests]


def mutated(request: bytes, dice: Random) -> bytes:
    changed = bytearray(request)
    for _ in range(dice.choice([0, 0, 1, 2, 5])):
        place = dice.randrange(len(changed))
        changed[place : place + dice.randrange(4)] = dice.randbytes(dice.randrange(4))
    return bytes(changed)


async def visit(server: Server, dice: Random) -> None:
    """Send odd bytes, perhaps in pieces; perhaps wait; then close or reset the connection."""
    request = mutated(dice.choice(seeds(server.port)), dice)
    async with server.connection() as peer:
        if dice.random() < 0.4:
            peer.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HANG_UP_RUDELY)
        with suppress(trio.BrokenResourceError), trio.move_on_after(dice.choice([0.01, 0.05])):
            size = dice.choice([10, 1000, len(request)])
            for start in range(0, len(request), max(1, size)):
                await peer.stream.send_all(request[start : start + size])
            await peer.is_closed_within(1)


@pytest.mark.parametrize("seed", range(3))
@in_real_time
async def test_no_bytes_break_a_connection(seed: int) -> None:
    dice, broken = Random(seed), []  # dice, not keys

    async def catch_errors(_what: str, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except Exception as error:
            broken.append(error)
            raise

    async with serving_all(catch_errors=catch_errors) as (server, _):
        for _ in range(5):
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(visit, server, dice)
        async with server.connection() as peer:
            assert (await peer.ask("GET /healthz HTTP/1.1")).status == 200
    assert broken == []
