"""Measures the time that each stage of a retrieval or of a learning run takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import trio


class Stopwatch:
    """Times the stages of one retrieval or of one learning run. A stage that fails or is cut off counts up to then.

    A stage that runs twice gets the sum of both times.
    """

    def __init__(self) -> None:
        self._began = trio.current_time()
        self._seconds: dict[str, float] = {}
        self.latest = "query"
        """The stage that began last: if the work is cut off, this is the stage that was under way."""

    @property
    def stages_ms(self) -> dict[str, float]:
        """Milliseconds by stage, to a tenth, in the order in which the stages ended; stages may overlap."""
        return {name: round(seconds * 1000, 1) for name, seconds in self._seconds.items()}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to the stage ``name``, however the block ends."""
        self.latest = name
        began = trio.current_time()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.pop(name, 0.0) + trio.current_time() - began

    def leave_out(self, name: str) -> None:
        """Forget the time of stage ``name``, since nothing of it was used."""
        self._seconds.pop(name, None)

    def elapsed_ms(self) -> float:
        """Milliseconds since the stopwatch was made, to a tenth."""
        return round((trio.current_time() - self._began) * 1000, 1)

    def in_whole_ms(self, stages: Iterable[str]) -> dict[str, int]:
        """For a log: the time of each of ``stages``, rounded down, and a ``duration_ms`` that is at least their sum."""
        whole = {f"{name}_ms": math.floor(self._seconds.get(name, 0.0) * 1000) for name in stages}
        return {**whole, "duration_ms": math.ceil((trio.current_time() - self._began) * 1000)}
