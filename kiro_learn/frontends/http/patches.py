"""One connection of Hypercorn 0.18 on Trio, with its defects patched; each patch has a test that fails without it.

- Hypercorn does not close the socket of a client that hung up, not even when it is idle: ``_read_data`` and
  ``_close_when_idle``.
- It waits for the rest of a head without limit: ``BoundedStream.receive_some``.
- It keeps a connection that shows no token: ``_close_when_idle`` and ``hang_up``.
- It shields a send that no client reads, even when the server stops: ``BoundedStream.send_all``.
- It changes to HTTP/2 or a WebSocket before anything was checked: ``Http11._check_protocol`` and ``_create_stream``.
- It sends the head, the body and the end of an answer separately: ``Http11.stream_send``.

Rules of this file: reading may only end by itself while no request is under way. So a connection is closed when it was
idle for ``keep_alive_timeout``, or is idle when the server stops; a request that was begun is always carried out.

``pyproject.toml`` bounds Hypercorn's version from above, since private methods of it are replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from socket import MSG_PEEK

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, EndBody, Response
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from kiro_learn.config import ServerConfig

STRANGER_SECONDS = 5.0
"""The time from accepting a connection until the head of a request with the token must be there."""
DRIP_SECONDS = 0.25
"""The pause between two reads of an incomplete head: reading many heads byte by byte would take the processor."""
END_OF_HEAD = b"\r\n\r\n"
CONNECTION = "kiro_learn.connection"
"""The key in the ASGI scope's ``state`` under which an application finds its connection."""


class Connection(TCPServer):
    """One connection of a client, from its first byte to the closing of its socket."""

    protocol: Http11  # type: ignore[assignment]  # Hypercorn's would turn into HTTP/2 when asked to

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        patience: ServerConfig,
        *,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_change`` is called when the connection becomes known or idle."""
        bounded = BoundedStream(stream, patience, is_head_half_sent=lambda: self.protocol.is_head_half_sent)
        super().__init__(app, config, context, ConnectionState({}), bounded)  # type: ignore[arg-type]  # as much of a stream as it uses
        self._reading = trio.CancelScope()
        self._on_change = on_change
        self._is_idle = True
        self._idle_since = self.came_at = trio.current_time()
        self.is_known = False
        self.is_silent = True
        self._latest_token_at = self.came_at + min(patience.read_seconds, STRANGER_SECONDS)

    @property
    def idle_since(self) -> float | None:
        """The time on trio's clock when the connection became idle; None while a request is under way."""
        return self._idle_since if self._is_idle else None

    def note_known(self) -> None:
        """Note that a request had the token: from now on, the connection is one of this user's clients."""
        self.is_known = True
        self._on_change()

    async def server_stops(self) -> None:
        """Wait until no more requests are accepted."""
        await self.context.terminated.wait()

    def hang_up(self) -> None:
        """Close the socket at once; tasks that wait for it get an error."""
        self.stream.socket.close()

    async def run(self) -> None:
        socket = self.stream.socket
        if not await self._says_something():
            socket.close()
            return
        try:
            client, server = socket.getpeername()[:2], socket.getsockname()[:2]
            async with TaskGroup() as tasks:
                self.protocol = Http11(
                    self.app,
                    self.config,
                    self.context,
                    tasks,
                    ConnectionState({CONNECTION: self}),
                    ssl=False,
                    client=client,
                    server=server,
                    send=self.protocol_send,
                )
                await self._read_data()
        except OSError:
            pass  # the peer disconnected before its address was read
        finally:
            await self._close()

    async def _says_something(self) -> bool:
        """Wait for a whole head, or for a part of one after which nothing comes for a moment.

        Only then is a connection served, which costs more than accepting it; a flood of connections sends no heads.
        """
        try:
            with trio.move_on_at(self._latest_token_at):
                await self._look_for_head()
        except (trio.ClosedResourceError, OSError):
            self.is_silent = True  # we hung up, or the client did
        return not self.is_silent

    async def _look_for_head(self) -> None:
        seen = b""
        while END_OF_HEAD not in (found := await self.stream.socket.recv(MAX_RECV, MSG_PEEK)):
            self.is_silent = not found
            if len(found) <= len(seen):
                return
            seen = found
            await trio.sleep(DRIP_SECONDS)
        self.is_silent = False

    async def protocol_send(self, event: Event) -> None:
        """Send, or close. After a close, pipelined requests that have already arrived are not read."""
        if isinstance(event, Updated):
            self._set_idle(event.idle)
            return
        await super().protocol_send(event)
        if isinstance(event, Closed):
            self.stop_reading()

    def stop_reading(self) -> None:
        """Read no more requests. A request that begins at this moment sees its client disconnect."""
        self._reading.cancel()

    async def _read_data(self) -> None:
        async with trio.open_nursery() as watching:
            self._set_idle(True)
            watching.start_soon(self._close_when_idle)
            with self._reading:
                await self._read_on()
            # A request that began just as reading ended must not wait for its body for ever.
            await self.protocol.handle(Closed())
            watching.cancel_scope.cancel()

    async def _read_on(self) -> None:
        data = None
        while data != b"":
            try:
                data = bytes(await self.stream.receive_some(MAX_RECV))
            except (trio.ClosedResourceError, trio.BrokenResourceError, trio.TooSlowError):
                return
            if self._reading.cancel_called:
                return  # reading ended as the data arrived: it is not handled
            await self.protocol.handle(RawData(data))

    async def _close_when_idle(self) -> None:
        """Stop reading if the connection was idle or unknown for too long, or is idle when the server stops.

        One task wakes when the time may be up and checks again, which is cheaper than a timer for each request.
        """
        while not self.context.terminated.is_set() and not self._is_idle_for_long and not self._is_unknown_for_long:
            since = self._idle_since if self._is_idle else trio.current_time()
            latest = since + self.config.keep_alive_timeout
            with trio.move_on_at(latest if self.is_known else min(latest, self._latest_token_at)):
                await self.context.terminated.wait()
        if self._is_idle or self._is_unknown_for_long:
            self.stop_reading()

    @property
    def _is_idle_for_long(self) -> bool:
        return self._is_idle and trio.current_time() >= self._idle_since + self.config.keep_alive_timeout

    @property
    def _is_unknown_for_long(self) -> bool:
        return not self.is_known and trio.current_time() >= self._latest_token_at

    def _set_idle(self, is_idle: bool) -> None:
        self._is_idle = is_idle
        self._idle_since = trio.current_time()
        if is_idle and self.context.terminated.is_set():
            self.stop_reading()
        if is_idle:
            self._on_change()


class Http11(H11Protocol):
    """HTTP/1.1 only: a request to upgrade to HTTP/2 or a WebSocket is ignored (RFC 9110, 7.8).

    Hypercorn upgrades before the token is checked, and its code for these protocols fails on bytes of neither.
    """

    _unsent_head = b""
    """The head of an answer that is not sent yet."""

    @property
    def is_head_half_sent(self) -> bool:
        connection = self.connection
        return connection.their_state is h11.IDLE and bool(connection.trailing_data[0])

    async def stream_send(self, event: StreamEvent) -> None:
        """Send the head together with the body: each send is a system call, and wakes the client up."""
        if isinstance(event, Response):
            headers = [*event.headers, *self.config.response_headers("h11")]
            self._unsent_head = self._written(h11.Response(headers=headers, status_code=event.status_code))
        elif isinstance(event, Body | EndBody):
            written = self._written(h11.Data(data=event.data) if isinstance(event, Body) else h11.EndOfMessage())
            data, self._unsent_head = self._unsent_head + written, b""
            if data:
                await self.send(RawData(data))
        else:
            await super().stream_send(event)

    def _written(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> bytes:
        """``event`` as bytes; empty if the client broke the protocol: it has its error already and is disconnected."""
        try:
            return self.connection.send(event) or b""
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return b""

    async def _check_protocol(self, event: h11.Request) -> None:
        """Accept no upgrade."""

    async def _create_stream(self, request: h11.Request) -> None:
        headers = [(name, value) for name, value in request.headers if name != b"upgrade"]
        if len(headers) < len(request.headers):
            request = h11.Request(
                method=request.method, target=request.target, headers=headers, http_version=request.http_version
            )
        await super()._create_stream(request)


class BoundedStream:
    """A stream whose peer may neither refuse to read for long nor pause within the head of a request.

    Hypercorn shields its sending from cancellation, so a peer that stops reading would block a shutdown for ever. A
    deadline inside the shield still works.
    """

    def __init__(
        self, stream: trio.SocketStream, patience: ServerConfig, *, is_head_half_sent: Callable[[], bool]
    ) -> None:
        self.socket = stream.socket
        self._stream = stream
        self._patience = patience
        self._is_head_half_sent = is_head_half_sent
        self._head_deadline = math.inf

    async def send_all(self, data: bytes) -> None:
        with trio.move_on_after(self._patience.write_seconds) as scope:
            await self._stream.send_all(data)
        if scope.cancelled_caught:
            await trio.aclose_forcefully(self._stream)
            raise trio.BrokenResourceError("the peer does not read")

    async def receive_some(self, most_bytes: int) -> bytes | bytearray:
        if not self._is_head_half_sent():
            self._head_deadline = math.inf
            return await self._stream.receive_some(most_bytes)
        await trio.sleep(DRIP_SECONDS)
        # One deadline for the whole head: otherwise a client could send one byte a second for ever.
        self._head_deadline = min(self._head_deadline, trio.current_time() + self._patience.read_seconds)
        with trio.fail_at(self._head_deadline):
            return await self._stream.receive_some(most_bytes)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()
