"""Finds who listens on a port: another program, or a kiro-learn daemon of another home."""

from __future__ import annotations

from pathlib import PurePath

import psutil

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import AnswerNotUnderstood, RequestRefused
from kiro_learn.client.routes import Client

UNSEEN = "another user's process"

PATIENCE_SECONDS = 0.5
"""For a listener's answer to whether it is one of us; a daemon has answered in a hundredth of that."""


def port_owner(port: int) -> str:
    """Who listens, as in ``"node" (pid 812)`` or ``the daemon of another home, /home/ana/x (pid 812)``."""
    return listener_on(port) or _daemon_on(port) or UNSEEN


def listener_on(port: int) -> str | None:
    """The same; None if no process is visible."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return None  # macOS shows other users' connections to root alone
    pids = [
        each.pid for each in connections if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port
    ]
    if not pids:
        return None
    return _daemon_on(port) or next((_named(pid) for pid in pids if pid is not None), UNSEEN)


def _named(pid: int) -> str:
    try:
        return f'"{psutil.Process(pid).name()}" (pid {pid})'
    except psutil.Error:
        return f"pid {pid}"


def _daemon_on(port: int) -> str | None:
    """The daemon that answers there, with its home if we may know it; None: it is another program, or says nothing."""
    try:
        with Client(url=f"http://localhost:{port}", patience_seconds=PATIENCE_SECONDS) as client:
            health = client.health()
    except (DaemonUnreachable, DaemonSilent, RequestRefused, AnswerNotUnderstood):
        return None
    pid = health.get("pid")
    if not isinstance(pid, int) or not {"status", "version", "build"} <= health.keys():
        return None
    return f"the daemon of {_home_of(pid)} (pid {pid})"


def _home_of(pid: int) -> str:
    try:
        environment = psutil.Process(pid).environ()
    except psutil.Error:
        return "another user"
    home = environment.get("KIRO_LEARN_HOME") or PurePath(environment.get("HOME", "~"), ".kiro-learn")
    return f"another home, {home}"
