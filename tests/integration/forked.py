"""Daemons and commands that are forked from a process that has imported all that they need.

Imports take most of a start's time: a second of a daemon's, half a second of ``doctor`` and ``service``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

IMPORTED = ("kiro_learn.app.command_line", "kiro_learn.app.daemon", "kiro_learn.app.maintenance")
NOTHING = Path(os.devnull)


class Forked:
    """A process that runs ``kiro-learn`` with ``arguments``, to be used as a ``subprocess.Popen``."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: Path | None = None,
        reads: Path = NOTHING,
        writes: Path = NOTHING,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(IMPORTED))
        with tempfile.NamedTemporaryFile(prefix="kiro-errors-", delete=False) as file:
            self._errors = Path(file.name)
        started = (list(arguments), dict(environment), (reads, writes, self._errors), folder or Path.cwd())
        self._process = context.Process(target=_run, args=started, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("kiro-learn", timeout or 0.0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[None, bytes]:
        """Wait until the process has ended; returns its standard error."""
        self.wait(timeout)
        errors = self._errors.read_bytes() if self._errors.exists() else b""
        self._errors.unlink(missing_ok=True)
        return None, errors

    def send_signal(self, number: signal.Signals) -> None:
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(arguments: list[str], environment: dict[str, str], streams: tuple[Path, Path, Path], folder: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    for descriptor, path in enumerate(streams):
        opened = os.open(path, os.O_RDWR if descriptor else os.O_RDONLY)
        os.dup2(opened, descriptor)
        os.close(opened)
    # As an interpreter opens them if LC_ALL is C.UTF-8.
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115  # to the end
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115  # too
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115  # too
    sys.argv = ["kiro-learn", *arguments]
    from kiro_learn.app.command_line import main  # noqa: PLC0415  # imported before this process was forked

    sys.exit(main())
