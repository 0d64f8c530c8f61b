"""Runs the daemon as its unit says, in place of systemd: with a notify socket, and a new start after a failure.

As a program, ``python unit_runner.py UNIT``, it starts the unit's command and exits.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

READY_SECONDS = 60.0


def read_unit(path: Path) -> tuple[list[str], dict[str, str]]:
    """The unit's command and variables. They are read by a shell's rules, which are systemd's as far as used here."""
    lines = [line.partition("=")[::2] for line in path.read_text().splitlines() if "=" in line and line[0] != "#"]
    (command,) = (value for name, value in lines if name == "ExecStart")
    variables = [shlex.split(value)[0].replace("%%", "%") for name, value in lines if name == "Environment"]
    return shlex.split(command), dict(each.split("=", 1) for each in variables)


def start(path: Path, **more: str) -> subprocess.Popen[bytes]:
    command, variables = read_unit(path)
    settings = {name: os.environ[name] for name in os.environ if name.startswith("KIRO_LEARN_SERVER")}
    return subprocess.Popen(
        command,
        env={**settings, "KIRO_LEARN_LLM_BACKEND": "extractive", **variables, **more},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class UnitRunner:
    """Runs a unit by the rules of ``Type=notify`` and ``Restart=on-failure``."""

    def __init__(self, unit: Path) -> None:
        self._unit = unit
        self._address = str(Path(tempfile.mkdtemp(prefix="kl")) / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self._address)
        self._socket.settimeout(READY_SECONDS)
        self.restart_count = -1
        self._start()

    def _start(self) -> None:
        self.restart_count += 1
        self.process = start(self._unit, NOTIFY_SOCKET=self._address, KIRO_LEARN_SERVER_PORT="0")

    def told(self) -> dict[str, str]:
        """The next message of the daemon."""
        return dict(line.split("=", 1) for line in self._socket.recv(4096).decode().splitlines())

    def watch(self) -> int:
        """Wait for its end, and start it again unless it ended well; returns its exit code, negative for a signal."""
        code = self.process.wait(timeout=READY_SECONDS)
        if code != 0:
            self._start()
        return code

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._socket.close()


if __name__ == "__main__":
    start(Path(sys.argv[1]))
