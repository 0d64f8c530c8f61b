"""Sessions as files: found by listing, and no link is followed out of the folder that is looked through."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kiro_learn.ports.histories import HistoryPlace, PastSession

MAX_SESSION_ID = 128


def agent_folder(place: HistoryPlace, name: str, variable: str = "") -> Path:
    """The user's folder of this name, or where the environment variable has it."""
    moved = place.environment.get(variable, "") if variable else ""
    return Path(moved) if moved.startswith("/") else place.user / name


def application_folders(place: HistoryPlace) -> tuple[Path, ...]:
    """Where programs with windows keep what is theirs, on any system."""
    if sys.platform == "darwin":
        return (place.user / "Library" / "Application Support",)
    return (agent_folder(place, ".config", "XDG_CONFIG_HOME"),)


def files_below(folder: Path, *suffixes: str, depth: int = 1) -> Iterator[Path]:
    """Regular files in ``folder``, and in its folders to the ``depth``, whose names end so; none if it is not there."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:
                yield from files_below(Path(entry.path), *suffixes, depth=depth - 1)
        elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def session_in(path: Path, session_id: str, *, folder: str = "") -> PastSession | None:
    """The session that the file ``path`` holds; None if it is gone or nothing can be called so."""
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    if not 0 < len(session_id) <= MAX_SESSION_ID:
        return None
    return PastSession(
        session_id=session_id,
        path=path,
        changed_at=datetime.fromtimestamp(found.st_mtime, UTC),
        size_bytes=found.st_size,
        state=f"{found.st_ino} {found.st_size} {found.st_mtime_ns}",
        folder=folder,
    )
