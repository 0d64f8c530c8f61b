"""One connection to one daemon: found, opened, kept; and what its answers mean."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

from kiro_learn.client.address import (
    DaemonAddress,
    DaemonSilent,
    DaemonUnreachable,
    daemon_address_of,
    default_home,
    end_by_hand,
    is_held,
)
from kiro_learn.errors import KiroLearnError

if TYPE_CHECKING:
    import http.client

PATIENCE_SECONDS = 10.0
"""How long a client waits for the daemon to say anything, unless told otherwise."""

LEARNING_PATIENCE_SECONDS = 3600.0
"""The same, where the answer comes when everything that waits is learned."""

RELEARNING_PATIENCE_SECONDS = 86_400.0
"""The same, where it comes when a model has learned again whatever there is."""

BAD_REQUEST = 400
UNAUTHORIZED = 401

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"

Json = dict[str, Any]


class RequestRefused(KiroLearnError):
    """The daemon answered that it cannot, and why."""

    def __init__(self, status: int, message: str, *, hint: str = "", details: Iterable[Json] = ()) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """Of HTTP."""
        self.details = tuple(details)
        """``{"path", "problem"}`` of every wrong value."""


class DaemonConnection:
    """One connection to one daemon, opened at the first request and kept.

    Every method may raise:
      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it answered with an error.
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
        self._url = url
        self._token = token
        self._patience_seconds = patience_seconds
        self._connection: http.client.HTTPConnection | None = None
        self._daemon = DaemonAddress("", 0, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the next request connects again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def address(self) -> str:
        """``host:port`` of the daemon that answered last."""
        shown = f"[{self._daemon.host}]" if ":" in self._daemon.host else self._daemon.host
        return f"{shown}:{self._daemon.port}"

    # --- the daemon -------------------------------------------------------------------------------------------------

    def _get(self, path: str, **query: object) -> Json:
        return self._object("GET", target_of(path, **query))

    def _object(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        content_type: str = JSON_TYPE,
        patience_seconds: float | None = None,
    ) -> Json:
        answer: Json = self._ask(method, target, body, content_type=content_type, patience_seconds=patience_seconds)
        return answer

    def _ask(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        content_type: str = JSON_TYPE,
        patience_seconds: float | None = None,
    ) -> Any:
        patience_seconds = self._patience_seconds if patience_seconds is None else patience_seconds
        headers = {} if body is None else {"Content-Type": content_type}
        was_kept = self._connection is not None
        connection = self._connected(patience_seconds)
        try:
            status, text = self._exchange(connection, method, target, body, headers)
        except (ConnectionError, _http().BadStatusLine) as error:
            if not was_kept:
                raise self._no_answer(error) from error
            # It was closed for being idle just as we asked. Asking twice is safe: whatever is stored has its id.
            self.close()
            return self._ask(method, target, body, content_type=content_type, patience_seconds=patience_seconds)
        except (OSError, _http().HTTPException) as error:
            raise self._no_answer(error) from error
        return self._understood(status, text)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> tuple[int, bytes]:
        authorized = {"Authorization": f"Bearer {self._daemon.token}", "Accept": JSON_TYPE}
        connection.request(method, target, body=body, headers={**authorized, **headers})
        response = connection.getresponse()
        return response.status, response.read()

    def _no_answer(self, error: Exception) -> KiroLearnError:
        """A daemon that refuses connections while it holds its home only just starts, or has not quite ended."""
        self.close()
        if isinstance(error, TimeoutError) or (not self._url and is_held(self.home)):
            return DaemonSilent(self._place)
        return DaemonUnreachable(self._place)

    def _connected(self, patience_seconds: float) -> http.client.HTTPConnection:
        """The connection, waiting at most so long at a time; a new one if the daemon hung up on the old."""
        if self._connection is not None and _is_hung_up(self._connection):
            self.close()
        if self._connection is None:
            self._daemon = self._find_daemon()
            self._connection = _http().HTTPConnection(self._daemon.host, self._daemon.port, timeout=patience_seconds)
            try:
                self._connection.connect()
            except OSError as error:
                raise self._no_answer(error) from error
        self._connection.sock.settimeout(patience_seconds)
        return self._connection

    @property
    def _place(self) -> Path | str:
        return self._url or self.home

    def _find_daemon(self) -> DaemonAddress:
        if not self._url:
            return daemon_address_of(self.home)
        parts = urlsplit(self._url)
        return DaemonAddress(parts.hostname or "127.0.0.1", parts.port or 80, self._token)

    def _understood(self, status: int, text: bytes) -> Any:
        try:
            answer = json.loads(text) if text else {}
        except ValueError:
            answer = {}
        if status < BAD_REQUEST:
            return answer
        if status == UNAUTHORIZED and not self._url:
            raise RequestRefused(
                status,
                f"the daemon refused the token in {self.home / 'token'}",
                hint=end_by_hand(self.home, "kill"),
            )
        said = answer if isinstance(answer, dict) else {}
        message = said.get("error") or f"the daemon answered with status {status}"
        raise RequestRefused(status, message, hint=said.get("hint", ""), details=said.get("details", ()))


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


def target_of(path: str, **query: object) -> str:
    """The path with a query of what is given; None means not given."""
    given = {name: str(value) for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def encoded(value: Json) -> bytes:
    """``value`` as the JSON of a body."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
