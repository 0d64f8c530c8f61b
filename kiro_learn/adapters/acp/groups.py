"""Which process groups of agents are running, written down, so that the next start ends what a crash left.

The launcher ends its group with the daemon; this is for when it could not, because it was killed as well.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

INTERNAL_MARK = {"KIRO_LEARN_INTERNAL": "1"}
"""By which our own hooks know a session of ours, and say nothing of it: the daemon would learn from itself."""


def group_folder(agent_folder: Path) -> Path:
    """One empty file a group lies here, named by its number."""
    return agent_folder.with_name("agent-groups")


@contextmanager
def noted(group: int, agent_folder: Path) -> Iterator[None]:
    """Have ``group`` written down for the length of the block. Where that cannot be, the agent runs all the same."""
    folder = group_folder(agent_folder)
    file = folder / str(group)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def end_left_groups(agent_folder: Path) -> int:
    """Kill what is left of the groups that are written down; answers how many there were. To be called at a start.

    A number may be another group's by now. A group is ours if one of its processes bears our mark: no number is given
    away while a process of its group lives, so all the others are ours too.
    """
    folder = group_folder(agent_folder)
    files = list(folder.iterdir()) if folder.is_dir() else []
    noted_groups = {int(file.name) for file in files if file.name.isdecimal()}
    left = noted_groups & set(_marked_groups()) if noted_groups else set()
    for group in left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    return len(left)


def _marked_groups() -> Iterator[int]:
    """The groups of the processes that bear our mark, as far as we may see."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if INTERNAL_MARK.items() <= process.environ().items():
                yield os.getpgid(process.pid)
