"""The kept connection: which requests are sent again when it breaks; and the modules that the package loads."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kiro_learn.client import DaemonSilent, DaemonUnreachable, KiroLearn
from kiro_learn.client.building import Call

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"items":[]}'
PAUSE_SECONDS = 5


@contextmanager
def breaking_daemon() -> Iterator[tuple[str, list[bytes]]]:
    """The daemon's URL and its requests. It answers a connection's first request, and hangs up on the second."""
    asked: list[bytes] = []

    def serve(server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PAUSE_SECONDS)
                asked.append(connection.recv(65_536).partition(b" HTTP")[0])
                connection.sendall(OK)
                if request := connection.recv(65_536):
                    asked.append(request.partition(b" HTTP")[0])

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        server.shutdown(socket.SHUT_RDWR)
        thread.join(PAUSE_SECONDS)


@contextmanager
def echoing_daemon() -> Iterator[str]:
    """The daemon's URL. It answers each request with the request's path, in two pieces."""

    class Echo(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = json.dumps({"path": self.path}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:5])
            self.wfile.flush()
            self.wfile.write(body[5:])

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(PAUSE_SECONDS)


def test_threads_that_share_a_client_get_their_own_answers() -> None:
    answered: list[tuple[str, str]] = []

    def ask(memory: KiroLearn, path: str) -> None:
        for _ in range(20):
            said = memory.carry_out(Call("GET", path, lambda response: str(response.json()["path"])))
            answered.append((path, said))

    with echoing_daemon() as url, KiroLearn("p", url=url) as memory:
        threads = [threading.Thread(target=ask, args=(memory, f"/{number}")) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(answered) == 80
    assert all(said == path for path, said in answered)


FORKED = """
import os, sys
from kiro_learn.client import KiroLearn
from kiro_learn.client.building import Call

memory, wrong = KiroLearn("p", url=sys.argv[1]), 0
def ask(path):
    return memory.carry_out(Call("GET", path, lambda response: str(response.json()["path"]))) != path

ask("/before")
child = os.fork()
for number in range(200):
    wrong += ask(f"/{os.getpid()}/{number}")
if not child:
    os._exit(wrong > 0)
_, status = os.waitpid(child, 0)
sys.exit(wrong > 0 or status != 0)
"""


def test_processes_that_were_forked_from_one_client_get_their_own_answers() -> None:
    with echoing_daemon() as url:
        done = subprocess.run([sys.executable, "-c", FORKED, url], timeout=60, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_what_can_be_asked_twice_is_asked_again() -> None:
    with breaking_daemon() as (url, asked), KiroLearn("p", url=url) as memory:
        assert [memory.sessions(), memory.sessions()] == [(), ()]
    assert asked == [b"GET /api/sessions?project=p&limit=50"] * 3


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.store_observation("once"),
        lambda memory: memory.edit("mr_1", title="once"),
        lambda memory: memory.forget("mr_1"),
    ],
    ids=["store_observation", "edit", "forget"],
)
def test_what_stores_or_changes_is_not_done_twice(ask: Callable[[KiroLearn], Any]) -> None:
    with breaking_daemon() as (url, asked), KiroLearn("p", url=url) as memory:
        memory.sessions()
        with pytest.raises(DaemonUnreachable):
            ask(memory)
        assert memory.sessions() == (), "the next call has a connection of its own"
    assert len(asked) == 3


def test_the_package_loads_little() -> None:
    code = "import sys; from kiro_learn.client import KiroLearn, SearchResult, RequestRefused; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"attrs", "cattrs", "click", "trio", "anyio", "asyncio", "h11", "socket", "http.client"}.isdisjoint(modules)
    assert "kiro_learn.services" not in modules


@contextmanager
def dripping_daemon(drip: bytes, after: threading.Event) -> Iterator[str]:
    """The daemon's URL. It begins its answer at once, and sends byte by byte until ``after`` is set."""

    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not after.wait(0.01):
                connection.sendall(drip)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        after.set()
        thread.join(PAUSE_SECONDS)


def test_patience_is_for_the_whole_answer() -> None:
    """Without a limit on the whole answer, this one would take 1,000 s."""
    with dripping_daemon(b" ", threading.Event()) as url, pytest.raises(DaemonSilent):
        KiroLearn("p", url=url, patience_seconds=0.1).sessions()
