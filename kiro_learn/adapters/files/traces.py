"""What shows that a home had a database, so that one that vanished is not taken for one that never was."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from kiro_learn.adapters.files import private
from kiro_learn.adapters.files.home import Home
from kiro_learn.errors import DatabaseGone

READY = b'"daemon.ready"'
"""In the log, once a daemon had opened its database."""


def traces_of_database(home: Home) -> tuple[str, ...]:
    """Each in a few words; empty where nothing shows it. Events that wait show it only beside something else."""
    found = []
    if began := private.read_text(home.began).strip():
        found.append(f"{home.began.name} says since {began}")
    if copies := len(list(home.backups.glob("*.db"))):
        found.append(f"backups has {_counted(copies, 'copy', 'copies')}")
    log = Path(f"{home.database}-wal")
    if log.is_file() and log.stat().st_size:
        found.append(f"{log.name} is there")
    if any(map(_tells_of_a_daemon, sorted(home.logs.glob("daemon.jsonl*")))):
        found.append("logs has a daemon that was ready")
    waiting = sum(path.is_file() for path in home.spool.folder.glob("[!.]*"))
    if found and waiting:
        found.append(f"spool has {_counted(waiting, 'event', 'events')}")
    return tuple(found)


def _tells_of_a_daemon(log: Path) -> bool:
    """Whether one had opened its database; a log that may not be read shows nothing, and is told as such elsewhere."""
    try:
        return READY in log.read_bytes()
    except OSError:
        return False


def refuse_vanished(home: Home, now: datetime) -> None:
    """Let no empty database take the place of one that vanished, unless the user has said that one may.

    Then what is left of it goes among the copies: a log that belongs to another file would be read into the new one.

    Raises:
      DatabaseGone: there was one, and it is missing or empty.
      ConfigError: what is left of it cannot be moved.
    """
    if not is_gone(home.database):
        return
    traces = traces_of_database(home)
    if traces and not home.may_begin_anew():
        raise DatabaseGone(home.database, traces)
    left = sorted(home.path.glob(f"{home.database.name}*"))
    if traces and left:
        with home.usable():
            folder = home.backups / f"damaged-{now:%Y%m%dT%H%M%SZ}"
            folder.mkdir(mode=0o700, exist_ok=True)
            for path in left:
                path.rename(folder / path.name)


def note_begun(home: Home, now: datetime) -> None:
    """Leave the trace that there is a database, once it is open; what was said of beginning anew is done."""
    with home.usable():
        if not home.began.exists():
            private.write(home.began, f"{now:%Y-%m-%dT%H:%M:%SZ}\n".encode())
        home.forget_beginning_anew()


def is_gone(database: Path) -> bool:
    """It is not there, or is a file with nothing in it."""
    if not os.path.lexists(database):
        return True
    return database.is_file() and database.stat().st_size == 0


def _counted(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
