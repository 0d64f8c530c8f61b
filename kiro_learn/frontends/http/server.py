"""Listens, and serves an application until it is told to stop; decides which client has to go for a new one.

Hypercorn's own ``serve`` gives no access to a connection, where two of its faults are. So the loop is here, and
Hypercorn is used from the connection upwards.

Any program on this machine may connect, and each connection costs a descriptor, so the number of places is limited.
When all are taken, a newcomer gets the place of another client. The client that goes is the one that has been there for
longest without a whole request; else the oldest one that sent no token; else the one that is idle for longest. If all
are at work, the newcomer waits, and later ones wait in the system's queue.
"""

from __future__ import annotations

import errno
import socket
import sys
from functools import partial
from typing import Protocol

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework

from kiro_learn.config import ServerConfig
from kiro_learn.errors import ConfigError, PortTaken
from kiro_learn.frontends.http.answers import Contain
from kiro_learn.frontends.http.patches import STRANGER_SECONDS, Connection
from kiro_learn.frontends.http.port_owner import port_owner

GRACE_PASSES = 24
"""Passes of the event loop before a newcomer takes a place: by then, the head of a request that was sent at once is
read. A wait in seconds would let in fewer connections than a program can open, if there are few places."""


class Guest(Protocol):
    """One connection."""

    came_at: float
    """When it connected, on trio's clock."""

    @property
    def is_known(self) -> bool:
        """Whether a request on it had the token."""
        ...

    @property
    def idle_since(self) -> float | None:
        """Since when it has had no request under way; None if it has one."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether nothing has come from it yet."""
        ...

    def hang_up(self) -> None:
        """Close its socket at once."""
        ...


class Places:
    """A limited number of connections at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guests: dict[Guest, None] = {}
        self._changed = trio.Event()

    def enter(self, guest: Guest) -> None:
        """Count ``guest``; call it after ``make_room``."""
        self._guests[guest] = None

    def leave(self, guest: Guest) -> None:
        """Stop counting ``guest``: it is gone, or was told to go."""
        self._guests.pop(guest, None)
        self.changed()

    def changed(self) -> None:
        """Note that a guest is idle or known now, or has left."""
        self._changed.set()

    def hang_up_on_silent(self) -> None:
        """Hang up on all guests that have sent nothing: their requests are not waited for any more."""
        for guest in [each for each in self._guests if each.is_silent]:
            guest.hang_up()

    async def make_room(self) -> None:
        """Wait until one more guest may enter; if needed, hang up on the one that can best be spared."""
        while len(self._guests) >= self._most:
            for _ in range(GRACE_PASSES // self._most):
                await trio.lowlevel.checkpoint()
            guest = min(self._guests, key=_worth)
            if _worth(guest)[0] == _AT_WORK:
                self._changed = trio.Event()
                await self._changed.wait()
            elif len(self._guests) >= self._most:
                self.leave(guest)
                guest.hang_up()


_WITHOUT_REQUEST, _UNKNOWN, _IDLE, _AT_WORK = range(4)


def _worth(guest: Guest) -> tuple[int, float]:
    """The order in which guests have to go: the least one goes first."""
    if not guest.is_known:
        return (_UNKNOWN if guest.idle_since is None else _WITHOUT_REQUEST), guest.came_at
    return (_AT_WORK, guest.came_at) if guest.idle_since is None else (_IDLE, guest.idle_since)


class Door(trio.abc.Listener[trio.SocketStream]):
    """A listener that accepts no more connections than there are places."""

    def __init__(self, listener: trio.SocketListener, places: Places) -> None:
        self._listener = listener
        self._places = places

    async def accept(self) -> trio.SocketStream:
        stream = await self._listener.accept()
        try:
            await self._places.make_room()
        except trio.Cancelled:
            stream.socket.close()
            raise
        return stream

    async def aclose(self) -> None:
        await self._listener.aclose()


MOST_CONNECTIONS = 256
"""The most connections at the same time; ``Places`` says which one goes for the next."""

BACKLOG = 1_024
"""Connections that the system holds until they are accepted; beyond it, a client's first try waits a second."""


async def serve_http(
    app: ASGIFramework,
    config: ServerConfig,
    *,
    shutdown: trio.Event,
    catch_errors: Contain,
    listener: trio.SocketListener | None = None,
    most_connections: int = MOST_CONNECTIONS,
    task_status: trio.TaskStatus[tuple[str, int]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` until ``shutdown``; started with the address it listens on.

    At the end no connection is accepted, idle ones are closed, and requests under way have ``drain_seconds``. An error
    in one connection is handed to ``catch_errors``, and does not affect the others.

    Args:
      listener: the listening socket; without it, one is opened.
      most_connections: less than ``MOST_CONNECTIONS`` if the system allows fewer descriptors.

    Raises:
      PortTaken: another program listens there.
      ConfigError: we may not listen there.
    """
    listener = listener or await open_listener(config)
    served, context, settings = ASGIWrapper(app), WorkerContext(max_requests=None), hypercorn_settings(config)
    places = Places(min(most_connections, MOST_CONNECTIONS))

    async def handle(stream: trio.SocketStream) -> None:
        connection = Connection(served, settings, context, stream, config, on_change=places.changed)
        places.enter(connection)
        try:
            await catch_errors("connection", connection.run)
        finally:
            places.leave(connection)

    door = Door(listener, places)
    async with trio.open_nursery() as connections:
        async with trio.open_nursery() as accepting:
            accepting.start_soon(partial(trio.serve_listeners, handle, [door], handler_nursery=connections))
            task_status.started(listener.socket.getsockname()[:2])
            await shutdown.wait()
            accepting.cancel_scope.cancel()
        places.hang_up_on_silent()
        connections.cancel_scope.deadline = trio.current_time() + config.drain_seconds
        await context.terminated.set()


async def turn_callers_away(listener: trio.SocketListener) -> None:
    """Close every connection at once, until cancelled. A hook then spools its event, and its agent need not wait."""

    async def hang_up(_stream: trio.SocketStream) -> None:
        await trio.lowlevel.checkpoint()

    # A duplicate, because serve_listeners closes its socket at the end.
    await trio.serve_listeners(hang_up, [trio.SocketListener(listener.socket.dup())])


async def open_listener(config: ServerConfig) -> trio.SocketListener:
    """Take the port.

    Raises:
      PortTaken: another program listens there.
      ConfigError: we may not listen there.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without this option, the port of a daemon that just stopped would be refused for a minute.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "linux":
            # Accept a connection only once it sends something: until then it costs no descriptor.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, round(STRANGER_SECONDS))
        await listening.bind((config.host, config.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(config.port, port_owner(config.port)) from error
        raise ConfigError([("server.port", f"{config.port} cannot be listened on: {error.strerror}")]) from error
    return trio.SocketListener(listening)


def hypercorn_settings(config: ServerConfig) -> Config:
    """Settings without an access log, which would hold people's questions, or a header that names the server."""
    settings = Config()
    settings.accesslog = None
    settings.errorlog = None
    settings.include_server_header = False
    settings.keep_alive_timeout = config.keep_alive_seconds
    settings.graceful_timeout = config.drain_seconds
    settings.keep_alive_max_requests = sys.maxsize  # an import sends thousands, and all of them are this user's
    return settings
