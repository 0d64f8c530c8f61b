"""When a project's waiting events are due to be learned, decided from numbers alone."""

from __future__ import annotations

import math

import attrs

from kiro_learn.breaker import CircuitBreaker


@attrs.frozen(kw_only=True)
class Waiting:
    """What a project's actor knows about its buffer; times on its own clock, in seconds."""

    event_count: int = 0
    size_bytes: int = 0
    last_arrival: float = -math.inf
    is_flushed: bool = False
    """Somebody waits for the buffer to be empty."""

    def with_arrival(self, size_bytes: int, *, now: float) -> Waiting:
        return attrs.evolve(
            self, event_count=self.event_count + 1, size_bytes=self.size_bytes + size_bytes, last_arrival=now
        )

    def without(self, event_count: int, size_bytes: int) -> Waiting:
        return attrs.evolve(
            self,
            event_count=max(0, self.event_count - event_count),
            size_bytes=max(0, self.size_bytes - size_bytes),
        )


def retry_delay_seconds(failure_count: int, *, first_seconds: float) -> float:
    """Pause after that many failures in a row: doubled each time, and bounded so that it stays a number."""
    return first_seconds * 2 ** min(failure_count - 1, 16) if failure_count else 0.0


def due_at(
    waiting: Waiting,
    breaker: CircuitBreaker,
    *,
    failed_at: float,
    idle_seconds: float,
    threshold_bytes: int,
    retry_seconds: float,
) -> float:
    """When the next learning run should start: minus infinity for at once, infinity for not before something changes.

    A flush runs at once, whatever failed before. Otherwise a run is due when enough waits or none has come for a while,
    but not before the pause after a failure is over, nor while the breaker is open.
    """
    if waiting.is_flushed:
        return -math.inf
    if waiting.event_count == 0:
        return math.inf
    wanted = -math.inf if waiting.size_bytes >= threshold_bytes else waiting.last_arrival + idle_seconds
    paused = failed_at + retry_delay_seconds(breaker.failure_count, first_seconds=retry_seconds)
    return max(wanted, paused if breaker.failure_count else -math.inf, breaker.probe_at())
