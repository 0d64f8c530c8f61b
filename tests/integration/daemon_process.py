"""A real daemon in a process of its own, and a client that is as simple as possible."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.integration.forked import Forked

READY_SECONDS = 60.0
FORKED: tuple[str, ...] = ()
"""Stands for a program that is forked from a process that has imported it, and not started."""
PROGRAM = ("-m", "kiro_learn")


class DaemonProcess:
    """A daemon's process, which is started in a home."""

    def __init__(
        self, home: Path, settings: Mapping[str, str], *, program: Sequence[str] = FORKED, port: int = 0
    ) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KIRO_LEARN_")}
        environment |= {"KIRO_LEARN_HOME": str(home), "KIRO_LEARN_LLM_BACKEND": "extractive", **settings}
        self.home = home
        self._address_before = self._written_address()
        self.process: Forked | subprocess.Popen[bytes]
        arguments = ("serve", "--port", str(port))
        if program == FORKED:
            self.process = Forked(arguments, environment)
        else:
            self.process = subprocess.Popen(
                [sys.executable, *program, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

    def wait_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while self._written_address() in {None, self._address_before}:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                _, errors = self.process.communicate()
                raise AssertionError(f"the daemon did not start: {errors.decode()[-2000:]}")
            time.sleep(0.005)

    def _written_address(self) -> tuple[int, int] | None:
        """What tells one writing of the address file from another; after a crash, the old file is still there."""
        try:
            state = (self.home / "daemon.address").stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns

    def connect(self, *, timeout_seconds: float = 60.0) -> http.client.HTTPConnection:
        host, port = (self.home / "daemon.address").read_text().strip().rsplit(":", 1)
        return http.client.HTTPConnection(host, int(port), timeout=timeout_seconds)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request on a connection of its own; returns the JSON of the answer, which must be a success."""
        connection = self.connect()
        try:
            status, answer = call(connection, self.token, method, path, body)
        finally:
            connection.close()
        assert status < 300, (method, path, status, answer)
        return answer

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask the daemon to stop, as a service manager does; returns its exit code."""
        self.process.send_signal(by)
        self.process.communicate(timeout=10)
        code: int | None = self.process.returncode
        assert code is not None
        return code


def call(
    connection: http.client.HTTPConnection, token: str, method: str, path: str, body: Any = None
) -> tuple[int, Any]:
    payload = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, payload, headers)
    response = connection.getresponse()
    text = response.read()
    return response.status, json.loads(text) if text else None


@contextmanager
def running_daemon(
    home: Path, settings: Mapping[str, str] | None = None, *, program: Sequence[str] = FORKED, port: int = 0
) -> Iterator[DaemonProcess]:
    """A ready daemon, which is killed at the end of the block if it still runs."""
    daemon = DaemonProcess(home, settings or {}, program=program, port=port)
    try:
        daemon.wait_ready()
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.kill()
