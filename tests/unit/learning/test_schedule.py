"""When learning is due."""

from __future__ import annotations

import math

from kiro_learn.breaker import CircuitBreaker
from kiro_learn.learning.schedule import Waiting, due_at, retry_delay_seconds

CLOSED = CircuitBreaker(failure_threshold=3, cooldown_seconds=600.0)


def due(waiting: Waiting, breaker: CircuitBreaker = CLOSED, *, failed_at: float = -math.inf) -> float:
    return due_at(waiting, breaker, failed_at=failed_at, idle_seconds=30.0, threshold_bytes=1000, retry_seconds=10.0)


def test_nothing_waiting_is_never_due() -> None:
    assert due(Waiting()) == math.inf


def test_a_little_is_due_when_it_has_been_quiet() -> None:
    assert due(Waiting().with_arrival(10, now=100.0)) == 130.0
    assert due(Waiting().with_arrival(10, now=100.0).with_arrival(10, now=120.0)) == 150.0


def test_enough_is_due_at_once() -> None:
    assert due(Waiting().with_arrival(1000, now=100.0)) == -math.inf


def test_a_flush_is_due_at_once_whatever_failed() -> None:
    opened = CLOSED.after_failure(1).after_failure(2).after_failure(3)

    assert due(Waiting(event_count=1, size_bytes=1, is_flushed=True), opened, failed_at=3.0) == -math.inf


def test_after_a_failure_it_waits_longer_each_time_without_a_new_event() -> None:
    waiting = Waiting().with_arrival(5000, now=0.0)

    assert due(waiting, CLOSED.after_failure(100.0), failed_at=100.0) == 110.0
    assert due(waiting, CLOSED.after_failure(100.0).after_failure(110.0), failed_at=110.0) == 130.0


def test_an_open_breaker_holds_it_until_the_probe() -> None:
    opened = CLOSED.after_failure(1).after_failure(2).after_failure(3)

    assert due(Waiting().with_arrival(5000, now=0.0), opened, failed_at=3.0) == 603.0


def test_what_was_learned_waits_no_more() -> None:
    waiting = Waiting().with_arrival(400, now=1.0).with_arrival(600, now=2.0)

    assert waiting.without(1, 400) == Waiting(event_count=1, size_bytes=600, last_arrival=2.0)


def test_the_pause_stays_a_number_however_often_it_failed() -> None:
    assert retry_delay_seconds(10_000, first_seconds=1.0) == 65536.0
