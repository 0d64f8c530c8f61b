"""Has the daemon started by ``kiro-learn start``, in a process that is watched and not waited for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

_PIECE_BYTES = 65_536
_LAST_BYTES = 8_192
UNEXPLAINED = "the daemon could not be started"


class Started(NamedTuple):
    """How a start went; no ``text`` if the daemon answers."""

    text: str = ""
    hint: str = ""


class DaemonStart:
    """One start at a time."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._said = b""

    @property
    def descriptor(self) -> int | None:
        """Readable when the start under way is over, or says something; None if none is."""
        return None if self._process is None or self._process.stderr is None else self._process.stderr.fileno()

    def begin(self) -> bool:
        """Start it, if that is not under way; False if it cannot be tried."""
        if self._process is not None:
            return True
        import subprocess  # noqa: PLC0415  # an agent whose daemon runs need not wait for its import

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
        """Read what it said; how it went, once it is over."""
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
