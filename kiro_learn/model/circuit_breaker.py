"""A circuit breaker as a value: time comes in as a number, and every step answers with the next value."""

from __future__ import annotations

import enum

import attrs


class BreakerState(enum.StrEnum):
    """The three states of a circuit breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@attrs.frozen(kw_only=True)
class CircuitBreaker:
    """A breaker: open after ``failure_threshold`` failures in a row; half open after the cooldown, for one probe.

    Nygard, Release It!, 2007. A probe's failure opens it again for a whole cooldown; any success closes it.
    """

    failure_threshold: int
    cooldown_seconds: float
    failure_count: int = 0
    opened_at: float | None = None
    """On the caller's clock, in seconds."""

    @property
    def is_open(self) -> bool:
        """Too many calls failed, and none has succeeded since: it is open or half open."""
        return self.opened_at is not None

    def state(self, now: float) -> BreakerState:
        if not self.is_open:
            return BreakerState.CLOSED
        return BreakerState.HALF_OPEN if now >= self.probe_at() else BreakerState.OPEN

    def probe_at(self) -> float:
        """When the next call may be made: minus infinity while closed."""
        return float("-inf") if self.opened_at is None else self.opened_at + self.cooldown_seconds

    def after_failure(self, now: float) -> CircuitBreaker:
        count = self.failure_count + 1
        opened_at = now if count >= self.failure_threshold else self.opened_at
        return attrs.evolve(self, failure_count=count, opened_at=opened_at)

    def after_success(self) -> CircuitBreaker:
        return attrs.evolve(self, failure_count=0, opened_at=None)
