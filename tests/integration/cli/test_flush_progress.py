"""A long flush or backfill says how much is left, and goes on without the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client.address import build_id
from tests.integration.cli.command_line import environment_for

NAMESPACE = "/actor/ana/project/abc/"
ANSWERS: dict[str, Any] = {
    "/v1/namespace": {"namespace": NAMESPACE, "project_id": "abc", "project_path": "/somewhere/web-shop"},
    "/v1/status": {
        "projects": [{"namespace": NAMESPACE, "waiting_event_count": 96}],
        "embeddings": {"total": 342, "embedded": 298, "set_aside": 4},
    },
    "/api/project": {
        "project": "web-shop",
        "namespace": NAMESPACE,
        "project_id": "abc",
        "folder": "/home/ada/web-shop",
        "namesakes": [],
    },
    "/api/embeddings/backfill": {"embedded": 40},
    "/v1/projects/abc/flush": {"events": 96, "records": 27, "parked": 2},
}


class SlowDaemon(ThreadingHTTPServer):
    """A daemon that answers a flush only when the test lets it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowAnswers)
        self.has_told_status = threading.Event()
        self.may_finish = threading.Event()


class SlowAnswers(BaseHTTPRequestHandler):
    server: SlowDaemon
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()
        if self.path == "/v1/status":
            self.server.has_told_status.set()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.may_finish.wait(20)
        with suppress(BrokenPipeError):  # the client may have gone
            self._answer()

    def _answer(self) -> None:
        body = json.dumps(ANSWERS[self.path.partition("?")[0]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # the name is theirs
        """Nothing."""


@pytest.fixture
def flushing(tmp_path: Path) -> Iterator[tuple[SlowDaemon, subprocess.Popen[str]]]:
    with under_way(tmp_path, "flush") as both:
        yield both


@contextmanager
def under_way(tmp_path: Path, *arguments: str) -> Iterator[tuple[SlowDaemon, subprocess.Popen[str]]]:
    """The verb's process, which has asked for the status and waits for the answer."""
    home = Home(tmp_path / "home")
    home.prepare()
    home.token()
    with running(SlowDaemon()) as daemon, home.lock(build_id()), home.announced("127.0.0.1", daemon.server_port):
        command = subprocess.Popen(
            [sys.executable, "-m", "kiro_learn", *arguments],
            env=environment_for(home.path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509  # no thread of ours holds a lock that the child needs
        )
        try:
            assert daemon.has_told_status.wait(20)
            yield daemon, command
        finally:
            daemon.may_finish.set()
            command.communicate(timeout=20)


def heed_interrupts() -> None:
    """Heed SIGINT, as at a terminal: a process in the background of a script inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def running(daemon: SlowDaemon) -> Iterator[SlowDaemon]:
    thread = threading.Thread(target=daemon.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield daemon
    finally:
        daemon.shutdown()
        daemon.server_close()
        thread.join(5)


def test_it_says_how_much_is_left(flushing: tuple[SlowDaemon, subprocess.Popen[str]]) -> None:
    daemon, command = flushing
    assert command.stderr is not None
    assert command.stderr.readline() == "Learning web-shop  96 of 96 events left\n"
    daemon.may_finish.set()
    said, rest = command.communicate(timeout=20)
    assert said.startswith("✓ 96 events learned into 27 memories · ")
    assert said.endswith("\n! 2 events not learned yet: they came meanwhile, or are set aside\n")
    assert (command.returncode, rest) == (0, "")


def test_a_client_that_stops_watching_stops_nothing_else(flushing: tuple[SlowDaemon, subprocess.Popen[str]]) -> None:
    _, command = flushing
    assert command.stderr is not None
    assert command.stderr.readline() == "Learning web-shop  96 of 96 events left\n"
    command.send_signal(signal.SIGINT)
    said, complained = command.communicate(timeout=20)
    assert (command.returncode, said) == (130, "")
    assert complained.splitlines()[:1] == ["Stopped watching; learning goes on."]


def test_a_backfill_says_how_much_is_left(tmp_path: Path) -> None:
    with under_way(tmp_path, "embeddings", "backfill") as (daemon, command):
        assert command.stderr is not None
        assert command.stderr.readline() == "Making memories findable by meaning  40 of 40 memories left\n"
        daemon.may_finish.set()
        said, rest = command.communicate(timeout=20)
        assert said.startswith("✓ 40 memories made findable by meaning · ")
        assert (command.returncode, rest) == (0, "")


def test_a_backfill_can_be_left_alone(tmp_path: Path) -> None:
    with under_way(tmp_path, "backfill") as (_, command):
        assert command.stderr is not None
        assert "40 of 40 memories left" in command.stderr.readline()
        command.send_signal(signal.SIGINT)
        said, complained = command.communicate(timeout=20)
        assert (command.returncode, said) == (130, "")
        assert complained.splitlines()[:1] == ["Stopped watching; the daemon goes on."]
