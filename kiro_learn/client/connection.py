"""One connection to one daemon: found, opened, kept."""

from __future__ import annotations

import os
import select
import threading
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from kiro_learn.client.address import DaemonAddress, default_home
from kiro_learn.client.call import PATIENCE_SECONDS, Call, DaemonPlace, Response, checked_patience

if TYPE_CHECKING:
    import http.client

T = TypeVar("T")


class DaemonConnection:
    """One connection to one daemon, opened at the first request and kept. Requests of several threads go one by one.

    Every method may raise:
      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it answered with an error.
      AnswerNotUnderstood: it answered something else than is expected.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        url: str = "",
        token: str = "",
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """For the daemon of ``home`` (by default the user's own), or for the one at ``url``."""
        self.home = default_home(os.environ) if home is None else home
        self._place = DaemonPlace(self.home, url, token)
        self._patience_seconds = checked_patience(patience_seconds)
        self._connection: http.client.HTTPConnection | None = None
        self._daemon = DaemonAddress("", 0, token)
        self._lock = threading.RLock()
        """Held for the length of a request: an answer is of the request before it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the next request connects again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @property
    def address(self) -> str:
        """``host:port`` of the daemon that answered last."""
        shown = f"[{self._daemon.host}]" if ":" in self._daemon.host else self._daemon.host
        return f"{shown}:{self._daemon.port}"

    def carry_out(self, call: Call[T]) -> T:
        """Send ``call``, wait for the answer, and read it."""
        with self._lock:
            response = self._response_to(call)
        return self._place.result_of(call, response)

    def _response_to(self, call: Call[T]) -> Response:
        was_kept = self._connection is not None
        connection = self._connected(self._patience_seconds if call.patience_seconds is None else call.patience_seconds)
        try:
            return self._exchange(connection, call)
        except (ConnectionError, _http().BadStatusLine) as error:
            if not (was_kept and call.is_repeatable):
                raise self._place.no_answer(error) from error
            # The connection was closed for being idle just as we asked.
            return self._response_to(call)
        except (OSError, _http().HTTPException) as error:
            raise self._place.no_answer(error) from error

    def _exchange(self, connection: http.client.HTTPConnection, call: Call[T]) -> Response:
        is_whole = False
        try:
            connection.request(call.method, call.target, body=call.body, headers=call.headers_for(self._daemon.token))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            answer = Response(response.status, headers, response.read())
            is_whole = True
            return answer
        finally:
            if not is_whole:
                self.close()

    def _connected(self, patience_seconds: float) -> http.client.HTTPConnection:
        """The connection, waiting at most so long at a time; a new one if the daemon hung up on the old."""
        if self._connection is not None and _is_hung_up(self._connection):
            self.close()
        if self._connection is None:
            self._daemon = self._place.find()
            self._connection = _http().HTTPConnection(self._daemon.host, self._daemon.port, timeout=patience_seconds)
            try:
                self._connection.connect()
            except OSError as error:
                self.close()
                raise self._place.no_answer(error) from error
        self._connection.sock.settimeout(patience_seconds)
        return self._connection


def _http() -> ModuleType:
    """It takes half the time that the bare command has, which where no daemon runs has no use for it."""
    import http.client  # noqa: PLC0415  # as above

    return http.client


def _is_hung_up(connection: http.client.HTTPConnection) -> bool:
    """A connection on which something can be read before anything was asked was closed by the other side."""
    if connection.sock is None:
        return True
    readable = select.poll()
    readable.register(connection.sock, select.POLLIN)
    return bool(readable.poll(0))
