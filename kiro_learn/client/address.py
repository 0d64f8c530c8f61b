"""Where the daemon of a home answers, as its files say; and the errors for a daemon that does not answer."""

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
"""The command needs no token, and makes one if there is none."""

CHANGE_SECONDS = 15.0
"""The longest time that an ordinary start or stop takes; a daemon that is silent for longer hangs."""


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
    """The daemon runs but does not answer: it hangs, or it is not ready (see the next class)."""

    def __init__(
        self, place: Path | str, message: str = "the daemon runs, but does not answer", *, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=end_by_hand(place) if hint is None else hint)
        self.place = place


class DaemonNotReady(DaemonSilent):
    """The daemon is starting, stopping or upgrading its database. Nothing needs repair: it answers later."""

    def __init__(self, place: Path | str, upgrade: str = "") -> None:
        said = f"is upgrading its database: {upgrade}" if upgrade else "starts or stops just now: ask again in seconds"
        super().__init__(place, f"the daemon {said}", hint="kiro-learn status")


class TokenGone(DaemonSilent):
    """The daemon runs, but the token that clients must send is gone."""

    def __init__(self, place: Path, url: str) -> None:
        super().__init__(place, f"the daemon runs, but its token is gone: {place / 'token'}", hint=RESTART)
        self.url = url
        """The URL of the routes that need no token."""


def silence_of(home: Path) -> DaemonSilent:
    """The error for a daemon of ``home`` that runs and does not answer."""
    upgrade = read_upgrade(home)
    return DaemonNotReady(home, upgrade) if upgrade or _changes(home) else DaemonSilent(home)


def _changes(home: Path) -> bool:
    """Whether the daemon wrote to its lock within ``CHANGE_SECONDS``, as it does when it begins to start or to stop."""
    try:
        began = (home / "daemon.lock").stat().st_mtime
    except OSError:
        return False
    return abs(time.time() - began) < CHANGE_SECONDS


def end_by_hand(place: Path | str) -> str:
    """The commands that replace a daemon that does not answer. Only a person runs them: a program might kill another
    one.
    """
    pid = pid_in_lock(place)
    return "" if pid is None else f"kill -9 {pid} && kiro-learn start"


def pid_in_lock(home: Path | str) -> int | None:
    """The process that last took the lock of a home, which may be gone; None: the lock names none."""
    try:
        return int(hook.read_line(f"{home}/daemon.lock"))
    except (OSError, ValueError):
        return None


def build_in_lock(home: Path | str) -> tuple[str, str]:
    """The build and the version of the daemon that last took the lock of a home; empty if it did not write them."""
    try:
        _, build, version, *_ = [*Path(home, "daemon.lock").read_text(encoding="ascii").splitlines(), "", "", ""]
    except (OSError, ValueError):
        return "", ""
    return build, version


class DaemonAddress(NamedTuple):
    """Where a daemon answers, and the token that it wants."""

    host: str
    port: int
    token: str


def daemon_address_of(home: Path, token: str = "") -> DaemonAddress:
    """The address that the daemon of ``home`` has written, with its token; with ``token`` if that is given.

    The lock is checked first, as in the hook. After a crash the address file still exists, and another program may
    listen on that port; it must not get the token.

    Raises:
      DaemonUnreachable: no daemon runs.
      DaemonNotReady, DaemonSilent: a daemon holds the home, but has written no address.
      TokenGone: there is an address, but no token to send.
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
    """Whether a daemon holds the lock of ``home``. Only on Linux can this be tested without taking the lock; else
    False.
    """
    return hook.is_served(str(home))


# The notice of a daemon that upgrades its database; it answers nothing else meanwhile.

FILE = "daemon.upgrade"

STAGES = {
    "backup": "copied {share:.0%} of it into backups/ first",
    "check": "checking the copy, table {place} of {total}",
    "migration": "step {place} of {total}",
    "commit": "writing it to the disk",
}


def read_upgrade(home: Path | str) -> str:
    """The progress of the upgrade, for people; empty if there is none."""
    try:
        notice = json.loads(Path(home, FILE).read_bytes())
        done, total = int(notice["done"]), int(notice["total"])
        return STAGES[notice["stage"]].format(share=done / max(1, total), place=done + 1, total=total)
    except (OSError, ValueError, KeyError, TypeError):
        return ""


# The build of this package: two builds of one version may answer differently.

KINDS = (".py", ".sql")
DIGEST_BYTES = 6


@functools.cache
def build_id() -> str:
    """A digest of the installed sources of the package; equal sources have equal digests.

    The sources are read at the first call, which takes some milliseconds; a daemon makes that call at its start, before
    an update can replace them.
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
