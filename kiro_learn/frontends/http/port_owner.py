"""Finds the process that listens on a port: another program, or a kiro-learn daemon of another home."""

from __future__ import annotations

from pathlib import PurePath

import psutil

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import AnswerNotUnderstood, RequestRefused
from kiro_learn.client.routes import Client

UNSEEN = "another user's process"

PATIENCE_SECONDS = 0.5
"""The longest wait for a listener's answer whether it is a daemon; a daemon answers in a hundredth of that."""


def port_owner(port: int) -> str:
    """The listener, such as ``"node" (pid 812)`` or ``the daemon of another home, /home/ana/x (pid 812)``."""
    return listener_on(port) or _daemon_on(port) or UNSEEN


def listener_on(port: int) -> str | None:
    """The listener in the same form; None if no process is visible."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return None  # macOS shows other users' connections only to root
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
    """The daemon that listens there, with its home if we may know it; None if it is no daemon, or does not answer."""
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
