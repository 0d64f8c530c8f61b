"""Tells the service manager that the daemon is ready, or is stopping: the protocol of sd_notify(3).

The protocol is one datagram to the socket that ``NOTIFY_SOCKET`` names, which systemd promises to keep
(systemd.io/PORTABILITY_AND_STABILITY). That is less code than the use of a library would be.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

import structlog

log = structlog.get_logger()

VARIABLE = "NOTIFY_SOCKET"
READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(environment: Mapping[str, str], *assignments: str) -> None:
    """Send ``assignments``, as in ``READY=1``, where a service manager listens; else do nothing. It never blocks."""
    address = environment.get(VARIABLE, "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # Linux's abstract sockets are written so
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(assignments).encode(), address)
    except OSError as error:
        log.warning("service.not_notified", errno=error.errno)
