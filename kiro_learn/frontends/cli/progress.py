"""Shows people the progress of work that takes a while; with ``--json``, nothing is shown."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli.shell import Shell

QUIET_SECONDS = 1.0
"""Work that is done sooner shows no progress."""
TERMINAL_SECONDS = 0.5
REDRAW_SECONDS = 0.1
"""The least time between two updates of progress that is reported often."""
LINE_SECONDS = 10.0
"""The time between two lines of progress if standard error is no terminal."""


class Watched(NamedTuple):
    """The work that is being done, and how much of it is left."""

    doing: str
    left: Callable[[dict[str, Any]], int]
    """How much is left, by the status of the daemon."""
    counted: Callable[[int], str]
    """Formats a number of items."""
    when_left: str = "Stopped watching; learning goes on."
    """What to say if the user ends the watching before the work is done."""


def of_project(namespace: str, count: str) -> Callable[[dict[str, Any]], int]:
    """Reads one of a project's counts from a status."""

    def left(status: dict[str, Any]) -> int:
        counts = {each["namespace"]: each[count] for each in status["projects"]}
        return int(counts.get(namespace, 0))

    return left


@contextmanager
def shown(shell: Shell, watched: Watched) -> Iterator[None]:
    """Show how much is left for the length of the block, over a connection of its own."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(shell, watched, done), daemon=True)
    if not shell.as_json:
        watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        shell.say([*([""] if shell.err.is_interactive else []), watched.when_left])
        raise
    finally:
        done.set()
        if not shell.as_json:
            watcher.join()


def _watch(shell: Shell, watched: Watched, done: threading.Event) -> None:
    if done.wait(QUIET_SECONDS):
        return
    most, is_shown = 0, False
    with shell.client() as client:
        while not done.is_set():
            try:
                left = watched.left(client.status())
            except KiroLearnError:
                break  # the work itself reports the error
            most = max(most, left)
            if most:  # 0: not known yet
                _show(shell, watched, left, most)
                is_shown = True
            done.wait(LINE_SECONDS if most and not shell.err.is_interactive else TERMINAL_SECONDS)
    if is_shown:
        _wipe(shell)


def _show(shell: Shell, watched: Watched, left: int, most: int) -> None:
    _write(shell, "  ".join((watched.doing, f"{left:,} of {watched.counted(most)} left")))


@contextmanager
def start_shown(shell: Shell) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that the daemon is being started; the yielded function shows the progress of an upgrade."""
    is_shown = shell.err.is_interactive and not shell.as_json
    if is_shown:
        _write(shell, "Starting the daemon")
    try:
        with said(shell, "Upgrading the database: {progress}") as tell:
            yield tell
    finally:
        if is_shown:
            _wipe(shell)


@contextmanager
def said(shell: Shell, sentence: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that shows progress during the block, as ``{progress}`` in ``sentence``.

    A terminal shows it from the beginning; elsewhere, work that ends soon leaves no line.
    """
    next_at, is_shown = time.monotonic() + (0.0 if shell.err.is_interactive else QUIET_SECONDS), False

    def tell(progress: str) -> None:
        nonlocal next_at, is_shown
        now = time.monotonic()
        if now >= next_at and not shell.as_json:
            next_at = now + (REDRAW_SECONDS if shell.err.is_interactive else LINE_SECONDS)
            is_shown = True
            _write(shell, sentence.format(progress=progress))

    try:
        yield tell
    finally:
        if is_shown:
            _wipe(shell)


def _write(shell: Shell, line: str) -> None:
    """Write a line: on a terminal in place of the last one, else as one more line."""
    if not shell.err.is_interactive:
        shell.say([line])
        return
    sys.stderr.write("\r" + shell.err.shown(line).ljust(shell.err.width - 1))
    sys.stderr.flush()


def _wipe(shell: Shell) -> None:
    if shell.err.is_interactive:
        sys.stderr.write("\r" + " " * (shell.err.width - 1) + "\r")
        sys.stderr.flush()
