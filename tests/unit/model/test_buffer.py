"""The circuit breaker, from state to state."""

from __future__ import annotations

from kiro_learn.model.buffer import BreakerState, CircuitBreaker

CLOSED = CircuitBreaker(failure_threshold=3, cooldown_seconds=60.0)


def failed(breaker: CircuitBreaker, *moments: float) -> CircuitBreaker:
    for now in moments:
        breaker = breaker.after_failure(now)
    return breaker


def test_it_stays_closed_below_the_threshold() -> None:
    assert failed(CLOSED, 1, 2).state(3) is BreakerState.CLOSED


def test_it_opens_at_the_threshold_and_half_opens_after_the_cooldown() -> None:
    opened = failed(CLOSED, 1, 2, 3)

    assert [opened.state(now) for now in (3, 62.9, 63)] == [
        BreakerState.OPEN,
        BreakerState.OPEN,
        BreakerState.HALF_OPEN,
    ]


def test_a_failed_probe_opens_it_for_another_cooldown() -> None:
    probed = failed(CLOSED, 1, 2, 3, 70)

    assert [probed.state(now) for now in (129.9, 130)] == [BreakerState.OPEN, BreakerState.HALF_OPEN]


def test_any_success_closes_it_and_forgets_the_failures() -> None:
    healed = failed(CLOSED, 1, 2, 3).after_success()

    assert healed == CLOSED
    assert failed(healed, 100, 101).state(102) is BreakerState.CLOSED
