"""Which agents this machine has: by their programs on the PATH, and by the folders that they leave."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import attrs

VERSION_SECONDS = 2.0
"""For all of them together: some take a second to start, and one may want to log in first."""

_VERSION = re.compile(rb"\b(\d+\.\d+(?:\.\d+)?)\b")
_MOST_BYTES = 4_096


@attrs.frozen
class PathPrograms:
    """``AgentPrograms`` on the PATH of an environment."""

    environment: Mapping[str, str]

    def is_installed(self, programs: Sequence[str], traces: Sequence[PurePosixPath]) -> bool:
        return self._first(programs) is not None or any(Path(trace).exists() for trace in traces)

    def versions(self, programs: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
        asked = {agent: found for agent, names in programs.items() if (found := self._first(names)) is not None}
        running = {agent: process for agent, program in asked.items() if (process := self._ask(program)) is not None}
        deadline = time.monotonic() + VERSION_SECONDS
        stated = {agent: _answer(process, deadline) for agent, process in running.items()}
        return {agent: version for agent, version in stated.items() if version}

    def _first(self, names: Sequence[str]) -> str | None:
        path = self.environment.get("PATH")
        return next((found for name in names if (found := shutil.which(name, path=path)) is not None), None)

    def _ask(self, program: str) -> subprocess.Popen[bytes] | None:
        try:
            return subprocess.Popen(  # noqa: S603  # an agent that the user installed
                [program, "--version"],
                env={**self.environment, "KIRO_LEARN_INTERNAL": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None


def _answer(process: subprocess.Popen[bytes], deadline: float) -> str:
    """What it states by ``deadline``; its whole group is gone afterwards."""
    try:
        said, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        said = b""
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    found = _VERSION.search(said[:_MOST_BYTES])
    return found.group(1).decode() if found else ""
