"""What Hypercorn 0.18 does wrong with a connection on Trio, put right. Each mend has a test that fails without it.

One more is in ``connection.py``: an idle connection ends in time, though its client hung up, and when the server stops.
Another is in the gate: Quart-Trio cancels the sending of an answer's last part as soon as it hears that the exchange is
over, which is how Hypercorn says that this part was sent; so connections are neither closed nor timed.
"""

from __future__ import annotations

from collections.abc import Callable

import h11
import trio
from hypercorn.protocol.h11 import H11Protocol

from kiro_learn.config import ServerConfig


class Http11(H11Protocol):
    """HTTP/1.1 and nothing else: a wish to change to HTTP/2 or a WebSocket is not heard (RFC 9110, 7.8).

    Hypercorn grants it before anybody asked for the token, and its code for those fails on bytes that are neither.
    """

    @property
    def is_head_half_sent(self) -> bool:
        connection = self.connection
        return connection.their_state is h11.IDLE and bool(connection.trailing_data[0])

    @property
    def is_between_requests(self) -> bool:
        """Nothing is under way, and no byte of the next request was read."""
        connection = self.connection
        return connection.our_state is connection.their_state is h11.IDLE and not connection.trailing_data[0]

    async def _check_protocol(self, event: h11.Request) -> None:
        """Nothing to change to."""

    async def _create_stream(self, request: h11.Request) -> None:
        headers = [(name, value) for name, value in request.headers if name != b"upgrade"]
        await super()._create_stream(
            h11.Request(
                method=request.method, target=request.target, headers=headers, http_version=request.http_version
            )
        )


class ImpatientStream:
    """A stream whose peer may not refuse to read for long, nor pause within the head of a request.

    Hypercorn shields its sending from cancellation, so a peer that stops reading would hold up a shutdown for ever.
    A deadline inside of the shield still counts.
    """

    def __init__(
        self, stream: trio.SocketStream, patience: ServerConfig, *, is_head_half_sent: Callable[[], bool]
    ) -> None:
        self.socket = stream.socket
        self._stream = stream
        self._patience = patience
        self._is_head_half_sent = is_head_half_sent

    async def send_all(self, data: bytes) -> None:
        with trio.move_on_after(self._patience.write_seconds) as scope:
            await self._stream.send_all(data)
        if scope.cancelled_caught:
            await trio.aclose_forcefully(self._stream)
            raise trio.BrokenResourceError("the peer does not read")

    async def receive_some(self, most_bytes: int) -> bytes | bytearray:
        if not self._is_head_half_sent():
            return await self._stream.receive_some(most_bytes)
        with trio.fail_after(self._patience.read_seconds):
            return await self._stream.receive_some(most_bytes)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()
