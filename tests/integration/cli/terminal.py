"""Runs the real command at a terminal with a person who types ahead."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.integration.cli.command_line import environment_for

ROWS, COLUMNS = 24, 80


def at_terminal(
    home: Path, *arguments: str, typed: str = "", changes: Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """Run the command to its end on a terminal of 80 columns; returns its exit code and the lines on the terminal."""
    environment = environment_for(home, {"TERM": "xterm", **(changes or {})})
    return any_at_terminal([sys.executable, "-m", "kiro_learn", *arguments], environment, typed=typed)


def any_at_terminal(
    arguments: Sequence[str], environment: Mapping[str, str], *, typed: str = ""
) -> tuple[int, list[str]]:
    """As above, for any program."""
    ours, its_own = pty.openpty()
    fcntl.ioctl(its_own, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    command = subprocess.Popen(
        arguments,
        env=environment,
        cwd=Path(__file__).parents[3],
        stdin=its_own,
        stdout=its_own,
        stderr=its_own,
    )
    os.close(its_own)
    try:
        os.write(ours, typed.encode())
        shown = _read_to_end(ours)
        return command.wait(timeout=60), shown.decode().splitlines()
    finally:
        os.close(ours)
        command.kill()
        command.wait()


def _read_to_end(terminal: int) -> bytes:
    """Read until the last process has left the terminal, which is an error on Linux, and an end elsewhere."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            return shown
        if not piece:
            return shown
        shown += piece
