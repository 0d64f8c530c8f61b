"""Where the daemon of a home answers, read from its files; and how to say that there is none."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kiro_learn.client import hook
from kiro_learn.errors import KiroLearnError

RESTART = "kiro-learn restart"
"""Which needs no token, and makes one where there is none."""

CHANGE_SECONDS = 15.0
"""The longest that an ordinary start or stop takes; a daemon that is silent for longer hangs."""


def default_home(environment: Mapping[str, str]) -> Path:
    """``$KIRO_LEARN_HOME``, or ``.kiro-learn`` in the user's folder."""
    named = environment.get("KIRO_LEARN_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".kiro-learn"


class DaemonUnreachable(KiroLearnError):
    """No daemon runs for this home."""

    def __init__(self, place: Path | str) -> None:
        super().__init__("the daemon is not running", hint="kiro-learn start")
        self.place = place


class DaemonSilent(KiroLearnError):
    """The daemon is there and says nothing: it hangs, or, as the class below says, is not ready."""

    def __init__(
        self, place: Path | str, message: str = "the daemon runs, but does not answer", *, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=end_by_hand(place) if hint is None else hint)
        self.place = place


class DaemonNotReady(DaemonSilent):
    """The daemon starts, upgrades its database or stops just now: there is nothing to mend, asked later it answers."""

    def __init__(self, place: Path | str, upgrade: str = "") -> None:
        said = f"is upgrading its database: {upgrade}" if upgrade else "starts or stops just now: ask again in seconds"
        super().__init__(place, f"the daemon {said}", hint="kiro-learn status")


class TokenGone(DaemonSilent):
    """The daemon runs, and what clients have to show it is gone."""

    def __init__(self, place: Path, url: str) -> None:
        super().__init__(place, f"the daemon runs, but its token is gone: {place / 'token'}", hint=RESTART)
        self.url = url
        """Where it answers what needs no token."""


def silence_of(home: Path) -> DaemonSilent:
    """What it means that the daemon of ``home``, which is there, does not answer."""
    upgrade = read_upgrade(home)
    return DaemonNotReady(home, upgrade) if upgrade or _changes(home) else DaemonSilent(home)


def _changes(home: Path) -> bool:
    """Whether the daemon began to start or to stop within the time that either may take: then it wrote to its lock."""
    try:
        began = (home / "daemon.lock").stat().st_mtime
    except OSError:
        return False
    return abs(time.time() - began) < CHANGE_SECONDS


def end_by_hand(place: Path | str) -> str:
    """The commands that replace a daemon that does not answer. A person runs them: a program might end another one."""
    pid = pid_in_lock(place)
    return "" if pid is None else f"kill -9 {pid} && kiro-learn start"


def pid_in_lock(home: Path | str) -> int | None:
    """The process that took the lock of a home last, and may be gone; None: none is named there."""
    try:
        return int(hook.read_line(f"{home}/daemon.lock"))
    except (OSError, ValueError):
        return None


def build_in_lock(home: Path | str) -> tuple[str, str]:
    """The build and the version of the daemon that took the lock of a home last; empty where it did not say them."""
    try:
        _, build, version, *_ = [*Path(home, "daemon.lock").read_text(encoding="ascii").splitlines(), "", "", ""]
    except (OSError, ValueError):
        return "", ""
    return build, version


class DaemonAddress(NamedTuple):
    """Where a daemon answers, and what it wants to be shown."""

    host: str
    port: int
    token: str


def daemon_address_of(home: Path, token: str = "") -> DaemonAddress:
    """Where the daemon of ``home`` said that it answers, with its token; with ``token`` if that is given.

    The lock is checked first, as the hook does. After a crash the address file is still there, and another program may
    listen on that port: it must not get the token.

    Raises:
      DaemonUnreachable: none runs.
      DaemonNotReady, DaemonSilent: one holds the home, and does not say where it answers.
      TokenGone: it says where, and there is no token to show it.
    """
    try:
        if not hook.daemon_lives(str(home)):
            raise DaemonUnreachable(home)
        host, _, port = hook.read_line(f"{home}/daemon.address").rpartition(":")
        daemon, shown = DaemonAddress(host.strip("[]"), int(port), token), f"{host}:{port}"
    except (OSError, ValueError) as error:
        raise (silence_of(home) if is_held(home) else DaemonUnreachable(home)) from error
    if token:
        return daemon
    try:
        return daemon._replace(token=hook.read_line(f"{home}/token"))
    except (OSError, ValueError) as error:
        raise TokenGone(home, f"http://{shown}") from error


def is_held(home: Path) -> bool:
    """Whether a daemon holds the lock of ``home``. Only Linux tells that without taking it; elsewhere it is False."""
    return hook.is_served(str(home))


# What the daemon says of an upgrade of its database, during which it answers nothing else.

FILE = "daemon.upgrade"

STAGES = {
    "backup": "copied {share:.0%} of it into backups/ first",
    "check": "checking the copy, table {place} of {total}",
    "migration": "step {place} of {total}",
    "commit": "writing it to the disk",
}


def read_upgrade(home: Path | str) -> str:
    """How far the upgrade is, for people; empty if there is none."""
    try:
        notice = json.loads(Path(home, FILE).read_bytes())
        done, total = int(notice["done"]), int(notice["total"])
        return STAGES[notice["stage"]].format(share=done / max(1, total), place=done + 1, total=total)
    except (OSError, ValueError, KeyError, TypeError):
        return ""


# Which build of this package this is: two of one version may answer otherwise.

KINDS = (".py", ".sql")
DIGEST_BYTES = 6


@functools.cache
def build_id() -> str:
    """A digest of the package's sources as they are installed, the same wherever the same ones are.

    Read at the first call, some milliseconds long; a daemon calls it at its start, before an update can replace them.
    """
    return digest_of(Path(__file__).parents[1])


def digest_of(folder: Path) -> str:
    """A digest of the names and contents of all sources below ``folder``."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(KINDS):
                content = Path(place, name).read_bytes()
                digest.update(f"{os.path.relpath(place, folder)}/{name}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()
