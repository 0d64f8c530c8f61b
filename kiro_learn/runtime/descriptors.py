"""How many files and sockets the system lets this process have open, and how they are shared out."""

from __future__ import annotations

import resource
from pathlib import Path

WANTED = 4_096
RESERVED = 32
"""Kept for the database's log, the spool, the log, project folders and the pipes of agents."""
FEW = 64
"""With fewer, the daemon gets by on one reader of the database."""


def raise_limit() -> int:
    """Ask for as many descriptors as this process may have, up to ``WANTED``; how many those are."""
    soft, hard = (_finite(limit) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    if soft < min(hard, WANTED):
        soft = min(hard, WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return soft


def connections_for(limit: int, open_count: int) -> int:
    """How many connections may be open at a time beside what is open now: half of what is free where that is little."""
    free = limit - open_count
    return max(1, free - min(RESERVED, (free + 1) // 2))


def count_open() -> int:
    """Descriptors of this process that are open now."""
    return len(list(Path("/dev/fd").iterdir())) - 1  # the listing has one of its own


def _finite(limit: int) -> int:
    return WANTED if limit == resource.RLIM_INFINITY else limit
