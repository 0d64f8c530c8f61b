"""A stand-in for the daemon, for tests of the shim: it owns a home, takes one request and gives a set answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs

import kiro_learn.client
from kiro_learn.adapters.files import Home

SHIM = Path(kiro_learn.client.__file__).with_name("hook.py")
PROMPT = b'{"hook_event_name": "userPromptSubmit", "cwd": "/w", "prompt": "why?"}'


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n" % len(body) + body


@attrs.define
class Received:
    """The requests of one test, in order."""

    requests: list[bytes] = attrs.field(factory=list)

    @property
    def headers(self) -> dict[str, str]:
        head = self.requests[0].partition(b"\r\n\r\n")[0].decode()
        return dict(line.split(": ", 1) for line in head.split("\r\n")[1:])

    @property
    def body(self) -> bytes:
        return self.requests[0].partition(b"\r\n\r\n")[2]


@contextmanager
def daemon(home: Home, answer: Callable[[socket.socket], None] | bytes = b"") -> Iterator[Received]:
    """Take one request and answer it. The connection stays open, as with a server."""
    received = Received()
    with socket.create_server(("127.0.0.1", 0)) as listener, home.lock():
        thread = threading.Thread(target=_serve, args=(listener, answer, received), daemon=True)
        with home.announced(*listener.getsockname()):
            thread.start()
            try:
                yield received
            finally:
                with suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)
                thread.join(5)


def _serve(listener: socket.socket, answer: Callable[[socket.socket], None] | bytes, received: Received) -> None:
    with suppress(OSError):
        connection = listener.accept()[0]
        with connection:
            received.requests.append(_read(connection))
            if isinstance(answer, bytes):
                connection.sendall(answer or ok(b""))
            else:
                answer(connection)
            connection.settimeout(3)
            connection.recv(1)


def _read(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65_536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(int(line[16:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def run_shim(
    home: Home,
    *arguments: str,
    payload: bytes | None = PROMPT,
    stdin: int | None = None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | bytes | None = None,
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", "-E", str(SHIM), str(home.path), *arguments]
    surroundings = environment or {}
    return subprocess.run(
        command, input=payload, stdin=stdin, env=surroundings, cwd=cwd, capture_output=True, timeout=5, check=False
    )
