"""What Hypercorn 0.18 does wrong with a connection on Trio, put right. Each mend has a test that fails without it.

The other mend is in the gate: Quart-Trio cancels the sending of an answer's last part as soon as it hears that the
exchange is over, which is how Hypercorn says that this part was sent; so connections are neither closed nor timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from kiro_learn.config import ServerConfig


class Connection(TCPServer):
    """One connection, from its first byte to the closing of its socket."""

    protocol: Http11  # type: ignore[assignment]  # Hypercorn's would turn into HTTP/2 when asked to

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        patience: ServerConfig,
    ) -> None:
        impatient = ImpatientStream(stream, patience, is_head_half_sent=lambda: self.protocol.is_head_half_sent)
        self._reading = trio.CancelScope()
        self._is_read_to_the_end = False
        super().__init__(app, config, context, ConnectionState({}), impatient)  # type: ignore[arg-type]  # as much of a stream as it uses

    async def run(self) -> None:
        socket = self.stream.socket
        try:
            client, server = socket.getpeername()[:2], socket.getsockname()[:2]
            async with TaskGroup() as tasks:
                self._task_group = tasks
                self.protocol = Http11(
                    self.app,
                    self.config,
                    self.context,
                    tasks,
                    ConnectionState({}),
                    ssl=False,
                    client=client,
                    server=server,
                    send=self.protocol_send,
                )
                await self.idle_task.restart(tasks, self._idle_timeout)
                await self._read_data()
        except OSError:
            pass  # the peer went away before we could ask who it is
        finally:
            await self._close()

    async def protocol_send(self, event: Event) -> None:
        """Send, or close; a closed connection is read no more, though requests may wait that came all at once."""
        await super().protocol_send(event)
        if isinstance(event, Closed):
            self._reading.cancel()

    async def _read_data(self) -> None:
        with self._reading:
            await super()._read_data()
        self._is_read_to_the_end = True
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        """Wait for the next request, unless there is none to come: that would keep the socket until the time is up."""
        if not self._is_read_to_the_end:
            await super()._idle_timeout()


class Http11(H11Protocol):
    """HTTP/1.1 and nothing else: a wish to change to HTTP/2 or a WebSocket is not heard (RFC 9110, 7.8).

    Hypercorn grants it before anybody asked for the token, and its code for those fails on bytes that are neither.
    """

    @property
    def is_head_half_sent(self) -> bool:
        connection = self.connection
        return connection.their_state is h11.IDLE and bool(connection.trailing_data[0])

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
        seconds = self._patience.read_seconds if self._is_head_half_sent() else math.inf
        with trio.fail_after(seconds):
            return await self._stream.receive_some(most_bytes)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()
