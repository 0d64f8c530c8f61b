"""What a service manager says of the daemon's service."""

from __future__ import annotations

import enum


class ServiceState(enum.Enum):
    """What the service manager says of our service."""

    ABSENT = "absent"
    """There is no file, and the manager knows of none."""
    UNLOADED = "unloaded"
    """There is a file that the manager has not read."""
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
