"""The SDK for synchronous programs, and its one connection to one daemon: found, opened, kept."""

from __future__ import annotations

import functools
import os
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, Self, TypeAlias, TypeVar
from weakref import WeakSet

from kiro_learn.client import calls, json_calls, project_calls
from kiro_learn.client.address import DaemonAddress, default_home
from kiro_learn.client.building import (
    PATIENCE_SECONDS,
    Call,
    Caller,
    DaemonPlace,
    Named,
    Response,
    checked_home,
    checked_patience,
)

if TYPE_CHECKING:
    import socket

    import h11

    from kiro_learn.client.exchange import Reading


T = TypeVar("T")

Sink: TypeAlias = Callable[[bytes], object]

_PIECE_BYTES = 65_536


class _Open(NamedTuple):
    """A connection, and the state of HTTP on it."""

    socket: socket.socket
    http: h11.Connection


class DaemonConnection:
    """One connection to one daemon, opened at the first request and kept. Requests of several threads are sent one by
    one.

    Every method may raise:
      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it refused the request.
      AnswerNotUnderstood: its answer is not what is expected.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        url: str = "",
        token: str = "",
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """``home``: the daemon's home, by default the user's own; ``url``: another daemon's address in its place."""
        self.home = default_home(os.environ) if home is None else checked_home(home)
        self._place = DaemonPlace(self.home, url, token)
        self._patience_seconds = checked_patience(patience_seconds)
        self._connection: _Open | None = None
        self._daemon = DaemonAddress("", 0, token)
        self._lock = threading.RLock()
        """Held during a request, since the next answer on the connection belongs to the last request."""
        _CONNECTIONS.add(self)

    def begin_anew(self) -> None:
        """Start over in a forked process: the connection, its lock and the answers on it are the parent's."""
        self._lock = threading.RLock()
        self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request connects again."""
        with self._lock:
            if self._connection is not None:
                self._connection.socket.close()
                self._connection = None

    @property
    def address(self) -> str:
        """``host:port`` of the daemon that answered last."""
        shown = f"[{self._daemon.host}]" if ":" in self._daemon.host else self._daemon.host
        return f"{shown}:{self._daemon.port}"

    def carry_out(self, call: Call[T]) -> T:
        """Send ``call``, wait for the answer, and read it. Waiting for other threads does not use up the patience."""
        with self._lock:
            patience = self._patience_seconds if call.patience_seconds is None else call.patience_seconds
            response = self._response_to(call, _Patience(patience))
        return self._place.result_of(call, response)

    def receive(self, call: Call[T], sink: Sink) -> T:
        """As ``carry_out``, for an answer that is too large to hold: ``sink`` gets its body piece by piece, and has all
        of it when this returns. The patience is for each piece.
        """
        with self._lock:
            patience = self._patience_seconds if call.patience_seconds is None else call.patience_seconds
            response = self._response_to(call, _Patience(patience, sink))
        return self._place.result_of(call, response)

    def _response_to(self, call: Call[T], patience: _Patience) -> Response:
        # Loading it takes half the time of a bare command, which does not need it if no daemon runs.
        import h11  # noqa: PLC0415  # as above

        was_kept = self._connection is not None
        connection = self._connected(patience)
        try:
            return self._exchange(connection, call, patience)
        except ConnectionError as error:
            if not (was_kept and call.is_repeatable):
                raise self._place.no_answer(error) from error
            # The daemon closed the idle connection just before this request.
            return self._response_to(call, patience)
        except (OSError, h11.RemoteProtocolError) as error:
            raise self._place.no_answer(error) from error

    def _exchange(self, connection: _Open, call: Call[T], patience: _Patience) -> Response:
        from kiro_learn.client.exchange import may_go_on, reading_of, request_of  # noqa: PLC0415  # as above

        is_kept = False
        try:
            connection.socket.settimeout(patience.left())
            connection.socket.sendall(request_of(connection.http, self._daemon, call, is_kept=True))
            answer = _received(connection.socket, reading_of(connection.http, patience.sink), patience)
            is_kept = may_go_on(connection.http)
            return answer
        finally:
            if not is_kept:
                self.close()

    def _connected(self, patience: _Patience) -> _Open:
        """The connection; a new one if the daemon closed the old one."""
        if self._connection is not None and _is_hung_up(self._connection.socket):
            self.close()
        if self._connection is None:
            self._daemon = self._place.find()
            import socket  # noqa: PLC0415  # where no daemon runs, the command has no use for these

            import h11  # noqa: PLC0415  # as above

            try:
                opened = socket.create_connection((self._daemon.host, self._daemon.port), timeout=patience.left())
            except OSError as error:
                raise self._place.no_answer(error) from error
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connection = _Open(opened, h11.Connection(h11.CLIENT))
        return self._connection


_CONNECTIONS: WeakSet[DaemonConnection] = WeakSet()


def _begin_anew() -> None:
    for each in _CONNECTIONS:
        each.begin_anew()


os.register_at_fork(after_in_child=_begin_anew)


def _received(connection: socket.socket, reading: Reading, patience: _Patience) -> Response:
    """Pass received bytes to ``reading`` until it is done, however slowly they come.

    Raises:
      ConnectionError: the daemon closed the connection before the first byte.
    """
    is_first = True
    next(reading)
    try:
        while True:
            connection.settimeout(patience.left())
            piece = connection.recv(_PIECE_BYTES)
            patience.note_piece()
            if is_first and not piece:
                raise ConnectionResetError("the daemon hung up")
            is_first = False
            reading.send(piece)
    except StopIteration as done:
        answer: Response = done.value
        return answer


class _Patience:
    """The time to wait for the whole answer; with a sink, for its next piece."""

    def __init__(self, seconds: float, sink: Sink | None = None) -> None:
        self.sink = sink
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def note_piece(self) -> None:
        if self.sink is not None:
            self._deadline = time.monotonic() + self._seconds

    def left(self) -> float:
        """The seconds left. Raises TimeoutError: none."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


def _is_hung_up(connection: socket.socket) -> bool:
    """Whether the other side closed the connection: then it is readable before anything was asked."""
    readable = select.poll()
    readable.register(connection, select.POLLIN)
    return bool(readable.poll(0))


P = ParamSpec("P")


def _method(build: Callable[Concatenate[Caller, P], Call[T]]) -> Callable[Concatenate[KiroLearn, P], T]:
    """A method with the parameters of ``build`` that carries out the call which ``build`` returns."""

    @functools.wraps(build)
    def method(self: KiroLearn, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.carry_out(build(self, *args, **kwargs))

    return method


class KiroLearn(Caller, DaemonConnection):
    """The memory of one project; other projects can be named in each call.

    It finds the daemon and its token each time it connects, so it survives a restart. Calls of several threads wait for
    each other; give a thread that should not wait a client of its own. Every method may raise:

      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it refused the request, and says why.
      AnswerNotUnderstood: its version answers differently.
    """

    def __init__(
        self,
        project: Named = None,
        *,
        home: Path | str | None = None,
        url: str = "",
        token: str = "",
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """``project``: a folder in it, its name or its id; by default the project of the current folder at each call.
        The daemon is that of ``home`` (by default the user's own), or that at ``url``, with ``token``.
        """
        Caller.__init__(self, project)
        DaemonConnection.__init__(self, home, url=url, token=token, patience_seconds=patience_seconds)

    search = _method(calls.search)
    search_advanced = _method(calls.search_advanced)
    semantic_search = _method(calls.semantic_search)
    hybrid_search = _method(calls.hybrid_search)
    recall = _method(calls.recall)

    store_observation = _method(calls.store_observation)
    store_knowledge = _method(calls.store_knowledge)
    store_summary = _method(calls.store_summary)

    get = _method(calls.get)
    edit = _method(calls.edit)
    same_words = _method(calls.same_words)
    forget = _method(calls.forget)
    judge = _method(project_calls.judge)
    pin = _method(project_calls.pin)
    unpin = _method(project_calls.unpin)
    viewer_code = _method(calls.viewer_code)
    preview_forgetting = _method(json_calls.preview_forgetting)
    forget_selected = _method(json_calls.forget_selected)
    pauses = _method(json_calls.pauses)
    pause = _method(json_calls.pause)
    end_pause = _method(json_calls.end_pause)
    rename_project = _method(json_calls.rename_project)
    merge_project = _method(json_calls.merge_project)
    sharing = _method(json_calls.sharing)
    compare_shared = _method(json_calls.compare_shared)
    withhold = _method(json_calls.withhold)

    add_fact = _method(json_calls.add_fact)
    add_preference = _method(json_calls.add_preference)
    add_procedure = _method(json_calls.add_procedure)
    merge_entities = _method(json_calls.merge_entities)

    observations = _method(project_calls.observations)
    knowledge = _method(project_calls.knowledge)
    timeline = _method(project_calls.timeline)
    sessions = _method(project_calls.sessions)
    event = _method(project_calls.event)
    doctor = _method(project_calls.doctor)
    session = _method(project_calls.session)
    sources = _method(project_calls.sources)
    resume = _method(project_calls.resume)
    context = _method(project_calls.context)
    settings = _method(project_calls.settings)
    profile = _method(project_calls.profile)
    graph_picture = _method(json_calls.picture)
    conflicts = _method(json_calls.conflicts)
    settle_conflict = _method(json_calls.settle_conflict)
    report = _method(project_calls.report)
    written_report = _method(project_calls.written_report)
    analytics = _method(project_calls.analytics)
    days = _method(project_calls.days)

    embedding_stats = _method(calls.embedding_stats)
    backfill_embeddings = _method(calls.backfill_embeddings)
    detect_stale_observations = _method(calls.detect_stale_observations)
    detect_stale = _method(calls.detect_stale)
