"""One connection: requests in plain form are answered right here, all others are Hypercorn's.

Rules of this file: reading may only end by itself while nothing is under way. So a connection is closed when it was
idle for long, or is idle when the server stops; and a request that was begun is carried out.
"""

from __future__ import annotations

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.express import ExpressLane
from kiro_learn.frontends.http.hypercorn_patches import Http11, ImpatientStream
from kiro_learn.frontends.http.plain_request import read_head, write_plain

PAUSE_SECONDS = 0.1
"""How long the rest of a body is waited for: many clients send it behind its head. If it takes longer, Hypercorn and
the gate wait for it, who know what to say of that."""


class Connection(TCPServer):
    """From its first byte to the closing of its socket."""

    protocol: Http11  # type: ignore[assignment]  # Hypercorn's would turn into HTTP/2 when asked to

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        *,
        patience: ServerConfig,
        express: ExpressLane | None,
    ) -> None:
        impatient = ImpatientStream(stream, patience, is_head_half_sent=lambda: self.protocol.is_head_half_sent)
        super().__init__(app, config, context, ConnectionState({}), impatient)  # type: ignore[arg-type]  # as much of a stream as it uses
        self._express = express
        self._port = 0
        self._reading = trio.CancelScope()
        self._is_idle = True
        self._idle_since = trio.current_time()

    async def run(self) -> None:
        socket = self.stream.socket
        try:
            client, server = socket.getpeername()[:2], socket.getsockname()[:2]
            self._port = server[1]
            async with TaskGroup() as tasks:
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
                await self._read_data()
        except OSError:
            pass  # the peer went away before we could ask who it is
        finally:
            await self._close()

    async def protocol_send(self, event: Event) -> None:
        """Send, or close; a closed connection is read no more, though requests may wait that came all at once."""
        if isinstance(event, Updated):
            self._set_idle(event.idle)
            return
        await super().protocol_send(event)
        if isinstance(event, Closed):
            self.stop_reading()

    def stop_reading(self) -> None:
        """Take nothing more. What was begun in this very moment is told that its client is gone."""
        self._reading.cancel()

    async def _read_data(self) -> None:
        async with trio.open_nursery() as watching:
            self._set_idle(True)
            watching.start_soon(self._leave_in_time)
            with self._reading:
                await self._read_on()
            # However it ended: a request that was begun in the very moment it did must not wait for its body for ever.
            await self.protocol.handle(Closed())
            watching.cancel_scope.cancel()

    async def _leave_in_time(self) -> None:
        """Stop reading when the connection was idle for long, or is idle when the server stops.

        One task that looks again when the time would have been up: cheaper than a timer for each request.
        """
        while not self.context.terminated.is_set() and not self._is_idle_for_long:
            since = self._idle_since if self._is_idle else trio.current_time()
            with trio.move_on_at(since + self.config.keep_alive_timeout):
                await self.context.terminated.wait()
        if self._is_idle:
            self.stop_reading()

    @property
    def _is_idle_for_long(self) -> bool:
        return self._is_idle and trio.current_time() >= self._idle_since + self.config.keep_alive_timeout

    async def _read_on(self) -> None:
        while (data := await self._receive()) is not None:
            if self._reading.cancel_called:
                return  # too late by a moment: nothing of it has been worked on
            left = await self._answer_at_once(data)
            if left is not None:
                await self.protocol.handle(RawData(left))
            if not data:
                return

    async def _receive(self) -> bytes | None:
        try:
            return bytes(await self.stream.receive_some(MAX_RECV))
        except (trio.ClosedResourceError, trio.BrokenResourceError, trio.TooSlowError):
            return None

    async def _answer_at_once(self, data: bytes) -> bytes | None:
        """Answer the request that ``data`` begins, if it needs nothing of Hypercorn.

        None, or else all the bytes that came, which are Hypercorn's then.
        """
        if self._express is None or not self.protocol.is_between_requests:
            return data
        head = read_head(data)
        if head is None or (asked := self._express.find_at_once(head, port=self._port)) is None:
            return data
        self._set_idle(False)
        end = head.size + head.body_bytes
        if len(data) < end:
            data = await self._read_until(end, data)
        if len(data) != end:
            return data
        answer = await self._express.answer(asked, query=head.query, headers=head.headers, body=data[head.size :])
        try:
            more_headers = self.config.response_headers("h11")
            await self.stream.send_all(write_plain(answer, more_headers, is_last=head.is_last))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.stop_reading()
        if head.is_last:
            self.stop_reading()
        self._set_idle(True)
        return None

    async def _read_until(self, end: int, data: bytes) -> bytes:
        """``data`` and what comes behind it, until there are ``end`` bytes or there is a pause."""
        whole = bytearray(data)
        with trio.move_on_after(PAUSE_SECONDS):
            while len(whole) < end and (more := await self._receive()):
                whole += more
        return bytes(whole)

    def _set_idle(self, is_idle: bool) -> None:
        self._is_idle = is_idle
        self._idle_since = trio.current_time()
        if is_idle and self.context.terminated.is_set():
            self.stop_reading()
