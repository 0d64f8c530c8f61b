"""Measures how long a learning run and each of its phases take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class RunStopwatch:
    """A stopwatch for one run; starts when it is made. The times of a repeated phase are added up."""

    def __init__(self) -> None:
        self._began = trio.current_time()
        self._seconds = dict.fromkeys(("extraction", "clustering", "neighbor_lookup", "judge", "commit"), 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block, however it ends."""
        began = trio.current_time()
        try:
            yield
        finally:
            self._seconds[name] += trio.current_time() - began

    def in_ms(self) -> dict[str, int]:
        """Whole milliseconds by name, for a log: each phase, and a ``duration_ms`` that is at least their sum."""
        phases = {f"{name}_ms": math.floor(seconds * 1000) for name, seconds in self._seconds.items()}
        return {**phases, "duration_ms": math.ceil((trio.current_time() - self._began) * 1000)}
