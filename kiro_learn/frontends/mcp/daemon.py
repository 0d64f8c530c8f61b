"""The daemon as seen from the protocol on standard input and output: one request to its ``/mcp``, and its start.

A request is of the modern revision, whatever the client speaks. The daemon is started by ``kiro-learn start``, in a
process that is watched but not waited for.

Rules of this file: the socket blocks while the request is sent, which is small and local; the answer is read as bytes
come. ``_socket`` is the module that ``socket`` wraps, and takes a tenth of its time to load.
"""

from __future__ import annotations

import _socket
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kiro_learn.client import hook
from kiro_learn.client.address import RESTART, DaemonAddress, daemon_address_of
from kiro_learn.model.version import __version__
from kiro_learn.wire.jsonrpc import Request, encode_value, written
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.over_http import NAME_HEADER, VERSION_HEADER, encoded
from kiro_learn.wire.mcp.protocol import Ask, Failed, Missing, Outcome, tool_error, undecorated

if TYPE_CHECKING:
    import subprocess


SEND_SECONDS = 5.0
UNAUTHORIZED = 401
MOST_ANSWER_BYTES = 16 * 1024 * 1024
_PIECE_BYTES = 65_536
_META = {
    versions.PROTOCOL_VERSION: versions.MODERN,
    versions.CLIENT_CAPABILITIES: {},
    versions.CLIENT_INFO: {"name": "kiro-learn mcp", "version": __version__},
}


class DaemonCall:
    """One request to the daemon, which is sent when this is made.

    Raises:
      DaemonUnreachable, DaemonSilent: see ``daemon_address_of``.
      OSError: the request could not be sent.
    """

    def __init__(self, home: Path, target: str, ask: Ask) -> None:
        daemon = daemon_address_of(home)
        self._home = home
        self._ask = ask
        self._received = bytearray()
        family = _socket.AF_INET6 if ":" in daemon.host else _socket.AF_INET
        self.socket = _socket.socket(family, _socket.SOCK_STREAM)
        self.socket.settimeout(SEND_SECONDS)
        try:
            self.socket.connect((daemon.host, daemon.port))
            self.socket.sendall(_request(daemon, target, ask))
        except OSError:
            self.close()
            raise

    def receive(self) -> Outcome | None:
        """Read the bytes that came; returns the outcome once all have come.

        Raises:
          OSError: the daemon hung up before that.
        """
        piece = self.socket.recv(_PIECE_BYTES)
        self._received += piece
        head, found, body = bytes(self._received).partition(b"\r\n\r\n") if piece else (b"", b"", b"")
        if not piece or len(self._received) > MOST_ANSWER_BYTES:
            raise ConnectionError("the daemon closed the connection")
        if not found or len(body) < int(hook.header(head, b"content-length") or 0):
            return None
        status = int(head.partition(b" ")[2][:3])
        if status == UNAUTHORIZED:
            text = f"the daemon refused the token in {self._home / 'token'}"
            return failure(self._ask, text, RESTART)
        return outcome_of(self._ask, status, body)

    def close(self) -> None:
        self.socket.close()


def _request(daemon: DaemonAddress, target: str, ask: Ask) -> bytes:
    params = {**ask.params, "_meta": _META}
    body = encode_value(written(Request(1, ask.method, params)))
    host = f"[{daemon.host}]" if ":" in daemon.host else daemon.host
    lines = [
        f"POST {target} HTTP/1.1",
        f"Host: {host}:{daemon.port}",
        f"Authorization: Bearer {daemon.token}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        f"{VERSION_HEADER}: {versions.MODERN}",
        f"mcp-method: {ask.method}",
        "Connection: close",
    ]
    named = ask.params.get("name", ask.params.get("uri"))
    if named is not None:
        lines.append(f"{NAME_HEADER}: {encoded(named)}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def outcome_of(ask: Ask, status: int, body: bytes) -> Outcome:
    """The outcome in an answer of the daemon."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    answer: dict[str, Any] = value if isinstance(value, dict) else {}
    if isinstance(answer.get("result"), dict):
        return undecorated(answer["result"])
    error = answer.get("error")
    if not isinstance(error, dict):
        said = f"the daemon answered with status {status}: {error or 'no answer that can be read'}"
        return failure(ask, said, answer.get("hint") or "kiro-learn status")
    detail = error.get("data")
    if isinstance(detail, dict) and "uri" in detail:
        return Missing(str(detail["uri"]))
    return Failed(str(error.get("message")), int(error.get("code", versions.INTERNAL_ERROR)))


def failure(ask: Ask, text: str, hint: str) -> Outcome:
    """A failure with ``text``, for the client's model or its user."""
    said = f"{text}\nhint: {hint}" if hint else text
    return tool_error(said) if ask.method == "tools/call" else Failed(said)


_LAST_BYTES = 8_192
UNEXPLAINED = "the daemon could not be started"


class Started(NamedTuple):
    """The result of a start; ``text`` is empty if the daemon answers."""

    text: str = ""
    hint: str = ""


class DaemonStart:
    """Starts the daemon, one start at a time."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._said = b""

    @property
    def descriptor(self) -> int | None:
        """A descriptor that is readable when the start is over or has output; None if no start is under way."""
        return None if self._process is None or self._process.stderr is None else self._process.stderr.fileno()

    def begin(self) -> bool:
        """Begin a start, unless one is under way; False if the program cannot be run."""
        if self._process is not None:
            return True
        import subprocess  # noqa: PLC0415  # not needed, so not imported, if the daemon runs

        try:
            self._process = subprocess.Popen(  # this interpreter, this package
                [sys.executable, "-P", "-m", "kiro_learn", "start", "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**self._environment, "KIRO_LEARN_HOME": str(self._home)},
            )
        except OSError:
            return False
        self._said = b""
        return True

    def take(self) -> Started | None:
        """Read output of the start; returns the result once it is over."""
        process, descriptor = self._process, self.descriptor
        if process is None or process.stderr is None or descriptor is None:
            return None
        piece = os.read(descriptor, _PIECE_BYTES)
        self._said = (self._said + piece)[-_LAST_BYTES:]
        if piece:
            return None
        process.stderr.close()
        self._process = None
        return Started() if process.wait() == 0 else _explained(self._said)


def _explained(said: bytes) -> Started:
    """The error of a command with ``--json``, which is its last line."""
    try:
        error = json.loads(said.strip().rpartition(b"\n")[2])
        return Started(str(error["error"]) or UNEXPLAINED, str(error.get("hint", "")))
    except (ValueError, KeyError, TypeError):
        return Started(UNEXPLAINED, "kiro-learn start")
