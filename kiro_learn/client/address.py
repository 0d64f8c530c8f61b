"""Where the daemon of a home answers, read from its files; and how to say that there is none."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kiro_learn.client import hook
from kiro_learn.client.upgrade_notice import read_upgrade
from kiro_learn.errors import KiroLearnError

RESTART = "kiro-learn restart"
"""Which needs no token, and makes one where there is none."""


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
    """The daemon is there and says nothing: it starts, upgrades its database, stops, or hangs."""

    def __init__(self, place: Path | str) -> None:
        if upgrade := read_upgrade(place):
            super().__init__(f"the daemon is upgrading its database: {upgrade}", hint="kiro-learn status")
        else:
            super().__init__("the daemon runs, but does not answer", hint=end_by_hand(place))
        self.place = place


class TokenGone(DaemonSilent):
    """The daemon runs, and what clients have to show it is gone."""

    def __init__(self, place: Path, url: str) -> None:
        super().__init__(place)
        self.args = (f"the daemon runs, but its token is gone: {place / 'token'}",)
        self.hint = RESTART
        self.url = url
        """Where it answers what needs no token."""


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


class DaemonAddress(NamedTuple):
    """Where a daemon answers, and what it wants to be shown."""

    host: str
    port: int
    token: str


def daemon_address_of(home: Path) -> DaemonAddress:
    """Where the daemon of ``home`` said that it answers.

    The lock is checked first, as the hook does. After a crash the address file is still there, and another program may
    listen on that port: it must not get the token.

    Raises:
      DaemonUnreachable: none runs.
      DaemonSilent: one holds the home, and does not say where it answers.
      TokenGone: it says where, and there is no token to show it.
    """
    try:
        if not hook.daemon_lives(str(home)):
            raise DaemonUnreachable(home)
        host, _, port = hook.read_line(f"{home}/daemon.address").rpartition(":")
        daemon, shown = DaemonAddress(host.strip("[]"), int(port), ""), f"{host}:{port}"
    except (OSError, ValueError) as error:
        raise (DaemonSilent if is_held(home) else DaemonUnreachable)(home) from error
    try:
        return daemon._replace(token=hook.read_line(f"{home}/token"))
    except (OSError, ValueError) as error:
        raise TokenGone(home, f"http://{shown}") from error


def is_held(home: Path) -> bool:
    """Whether a daemon holds the lock of ``home``. Only Linux tells that without taking it; elsewhere it is False."""
    try:
        return sys.platform == "linux" and hook.daemon_lives(str(home))
    except OSError:
        return False
