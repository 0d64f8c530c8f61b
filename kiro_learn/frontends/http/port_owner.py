"""Finds the process that listens on a port."""

from __future__ import annotations

import psutil

UNSEEN = "another user's process"


def port_owner(port: int) -> str:
    """The listener's name and process, as in ``"node" (pid 812)``."""
    return listener_on(port) or UNSEEN


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
    return next((_named(pid) for pid in pids if pid is not None), UNSEEN)


def _named(pid: int) -> str:
    try:
        return f'"{psutil.Process(pid).name()}" (pid {pid})'
    except psutil.Error:
        return f"pid {pid}"
