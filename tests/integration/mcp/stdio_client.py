"""A client of ``kiro-learn mcp`` that writes and reads lines, and a daemon for it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 30.0
HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def environment_of(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KIRO_")}
    settings = {
        "KIRO_LEARN_HOME": str(home),
        "KIRO_LEARN_LLM_BACKEND": "extractive",
        "KIRO_LEARN_SERVER_PORT": "0",
        "KIRO_LEARN_EMBEDDING_ENABLED": "false",
    }
    return {**kept, **settings, **more}


class Peer:
    """The client's end of the process's pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._received = b""

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Any) -> None:
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def read(self) -> Any:
        """The next line, as JSON."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"\n" not in self._received:
            readable, _, _ = select.select([self.process.stdout], [], [], deadline - time.monotonic())
            assert readable, "nothing was answered in time"
            piece = os.read(self.process.stdout.fileno(), 65_536)
            assert piece, "the output ended"
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)

    def ask(self, method: str, number: Any = 1, **params: Any) -> Any:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.read()
        assert answer["id"] == number, answer
        return answer

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def initialize(self) -> None:
        self.send(HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert self.read()["result"]["protocolVersion"] == "2025-06-18"

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def stdio_server(
    home: Path, folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> Iterator[Peer]:
    """``kiro-learn mcp`` in ``folder``, which is killed at the end if it still runs."""
    command: Sequence[str] = [sys.executable, "-m", "kiro_learn", "mcp", *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment or environment_of(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()


def stop_daemon(home: Path) -> None:
    command = [sys.executable, "-m", "kiro_learn", "stop"]
    subprocess.run(command, env=environment_of(home), capture_output=True, timeout=PATIENCE_SECONDS, check=False)


def daemon_pid(home: Path) -> int:
    return int((home / "daemon.lock").read_text().split()[0])
