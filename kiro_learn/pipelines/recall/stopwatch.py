"""Measures the time of each stage of one retrieval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Stopwatch:
    """Times the stages of one retrieval. One that fails or is cut off counts up to then.

    One that comes twice has the time of both.
    """

    def __init__(self) -> None:
        self._began = trio.current_time()
        self.stages_ms: dict[str, float] = {}
        """By stage, in the order in which they ended; stages may overlap."""
        self.latest = "query"
        """The stage that began last: when all is cut off, the one that was waited for."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to the stage ``name``, however the block ends."""
        self.latest = name
        began = trio.current_time()
        try:
            yield
        finally:
            self.stages_ms[name] = round(self.stages_ms.pop(name, 0.0) + _ms_since(began), 1)

    def leave_out(self, name: str) -> None:
        """A stage of which nothing was used."""
        self.stages_ms.pop(name, None)

    def elapsed_ms(self) -> float:
        """Milliseconds since the stopwatch was made, to a tenth."""
        return _ms_since(self._began)


def _ms_since(began: float) -> float:
    return round((trio.current_time() - began) * 1000, 1)
