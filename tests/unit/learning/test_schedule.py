"""The step that a buffer needs next, and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import attrs
import pytest

from kiro_learn.learning.schedule import BufferState, Due, SchedulePolicy, Step, retry_delay_seconds
from kiro_learn.model.buffer import BufferSize, CircuitBreaker
from kiro_learn.model.settings import ScheduleSettings

CLOSED = CircuitBreaker(failure_threshold=3, cooldown_seconds=600.0)
KNOWN = BufferState(breaker=CLOSED, look_at=math.inf)
SETTINGS = ScheduleSettings(
    buffer_idle_seconds=30.0,
    turn_idle_seconds=300.0,
    extraction_bytes=1000,
    retry_seconds=10.0,
    cooldown_seconds=600.0,
    compacts=True,
    compaction_bytes=2000,
    compaction_failures=3,
    ceiling_bytes=8000,
)
TIMETABLE = SchedulePolicy(SETTINGS)
AT_ONCE = -math.inf


def due(buffer_state: BufferState) -> Due:
    return TIMETABLE.next_step(buffer_state)


def after_failures(count: int, *, size_bytes: int = 100) -> BufferState:
    """The state of a buffer after ``count`` failed runs, one a second from second 1 on."""
    buffer_state = attrs.evolve(KNOWN, event_count=3, size_bytes=size_bytes, last_arrival=0.0)
    for number in range(count):
        buffer_state = buffer_state.after_failed_run(number + 1.0)
    return buffer_state


def test_before_anything_else_it_looks() -> None:
    assert due(BufferState(breaker=CLOSED, event_count=5, size_bytes=9000, is_flushed=True)) == Due(Step.LOOK, AT_ONCE)


def test_nothing_waiting_is_never_due() -> None:
    assert due(KNOWN).at == math.inf


def test_a_little_is_due_when_it_has_been_quiet() -> None:
    assert due(KNOWN.with_arrival(10, now=100.0)) == Due(Step.LEARN, 130.0)
    assert due(KNOWN.with_arrival(10, now=100.0).with_arrival(10, now=120.0)) == Due(Step.LEARN, 150.0)


def test_in_the_middle_of_a_turn_it_waits_longer() -> None:
    in_turn = KNOWN.with_arrival(10, now=100.0, is_within_turn=True)
    assert due(in_turn) == Due(Step.LEARN, 400.0)
    assert due(in_turn.with_arrival(10, now=120.0)) == Due(Step.LEARN, 150.0)
    assert due(in_turn.with_arrival(1000, now=120.0, is_within_turn=True)) == Due(Step.LEARN, AT_ONCE)


def test_enough_is_due_at_once() -> None:
    assert due(KNOWN.with_arrival(1000, now=100.0)) == Due(Step.LEARN, AT_ONCE)
    assert due(KNOWN.with_arrival(999, now=100.0)).at == 130.0


def test_the_rest_of_what_was_due_is_due_at_once() -> None:
    buffer_state = KNOWN.with_arrival(10, now=100.0)

    assert due(buffer_state.after_run(was_part=True)) == Due(Step.LEARN, AT_ONCE)
    assert due(buffer_state.after_run(was_part=False)) == Due(Step.LEARN, 130.0)


def test_after_a_failure_it_waits_longer_each_time_without_a_new_event() -> None:
    assert due(after_failures(1, size_bytes=1500)) == Due(Step.LEARN, 11.0)
    assert due(after_failures(2, size_bytes=1500)) == Due(Step.LEARN, 22.0)


def test_an_open_breaker_holds_it_until_the_probe() -> None:
    assert due(after_failures(3, size_bytes=1500)) == Due(Step.LEARN, 603.0)


@pytest.mark.parametrize("count", [4, 9, 12, 17, 10_000])
def test_the_probe_of_an_open_breaker_comes_on_time_however_often_it_failed(count: int) -> None:
    assert due(after_failures(count, size_bytes=1500)) == Due(Step.LEARN, count + 600.0)
    parked = attrs.evolve(after_failures(count), event_count=0, parked_event_count=4)
    assert due(parked) == Due(Step.TAKE_BACK, count + 600.0)


def test_no_pause_is_longer_than_the_cooldown_even_while_the_breaker_is_closed() -> None:
    patient = CircuitBreaker(failure_threshold=100, cooldown_seconds=600.0)
    buffer_state = attrs.evolve(KNOWN, breaker=patient, event_count=3, size_bytes=1500)
    for number in range(50):
        buffer_state = buffer_state.after_failed_run(float(number))
    assert due(buffer_state) == Due(Step.LEARN, 649.0)


def test_the_pause_stays_a_number_however_often_it_failed() -> None:
    assert retry_delay_seconds(10_000, first_seconds=1.0, most_seconds=math.inf) == 65536.0


class TestFlush:
    def test_it_learns_at_once_whatever_failed(self) -> None:
        assert due(attrs.evolve(after_failures(3), is_flushed=True)) == Due(Step.LEARN, AT_ONCE)

    def test_it_tries_what_is_parked_once_and_then_takes_back_what_was_set_aside(self) -> None:
        buffer_state = attrs.evolve(
            KNOWN, is_flushed=True, parked_cluster_count=1, retry_at=math.inf, parked_event_count=4
        )
        assert due(buffer_state).step is Step.RETRY
        tried = attrs.evolve(buffer_state, has_retried=True)
        assert due(tried).step is Step.TAKE_BACK
        assert due(attrs.evolve(tried, parked_event_count=0)).step is Step.ANSWER

    def test_a_new_one_looks_first_and_tries_again_what_is_parked(self) -> None:
        buffer_state = attrs.evolve(KNOWN, has_retried=True, parked_cluster_count=1).with_flush()
        assert due(buffer_state) == Due(Step.LOOK, AT_ONCE)
        assert due(attrs.evolve(buffer_state, look_at=math.inf)).step is Step.RETRY


class TestParked:
    def test_clusters_are_tried_again_at_their_time(self) -> None:
        assert due(attrs.evolve(KNOWN, parked_cluster_count=1, retry_at=77.0)) == Due(Step.RETRY, 77.0)

    def test_clusters_do_not_wait_for_a_learner_that_pauses(self) -> None:
        assert due(attrs.evolve(after_failures(3), parked_cluster_count=1, retry_at=77.0)) == Due(Step.RETRY, 77.0)

    def test_what_was_set_aside_returns_when_nothing_waits(self) -> None:
        parked = attrs.evolve(KNOWN, parked_event_count=4)
        assert due(parked) == Due(Step.TAKE_BACK, AT_ONCE)
        assert due(parked.with_arrival(10, now=0.0)).step is Step.LEARN

    def test_what_was_set_aside_does_not_return_to_a_learner_that_fails(self) -> None:
        sick = attrs.evolve(after_failures(2), event_count=0, parked_event_count=4)
        assert due(sick) == Due(Step.TAKE_BACK, 22.0)

    def test_what_returned_is_learned_at_once(self) -> None:
        returned = attrs.evolve(KNOWN.after_taking_back(), event_count=4, look_at=math.inf)
        assert due(returned) == Due(Step.LEARN, AT_ONCE)


class TestCompaction:
    def test_a_large_buffer_that_is_not_learned_is_compacted_at_once(self) -> None:
        assert due(after_failures(1, size_bytes=2001)) == Due(Step.COMPACT, AT_ONCE)

    def test_its_threshold_is_its_own(self) -> None:
        assert due(after_failures(1, size_bytes=2000)).step is Step.LEARN

    def test_a_learner_that_works_drains_the_buffer_better(self) -> None:
        assert due(attrs.evolve(KNOWN, event_count=3, size_bytes=2001)) == Due(Step.LEARN, AT_ONCE)

    def test_it_can_be_switched_off(self) -> None:
        policy = SchedulePolicy(attrs.evolve(SETTINGS, compacts=False))
        assert policy.next_step(after_failures(1, size_bytes=2001)).step is Step.LEARN

    def test_one_that_failed_is_tried_again_after_a_pause(self) -> None:
        buffer_state = after_failures(3, size_bytes=2001).after_failed_compaction(50.0)
        assert due(buffer_state) == Due(Step.COMPACT, 60.0)
        assert due(buffer_state.after_failed_compaction(60.0)) == Due(Step.COMPACT, 80.0)

    def test_its_pause_is_no_longer_than_the_cooldown(self) -> None:
        policy = SchedulePolicy(attrs.evolve(SETTINGS, compaction_failures=100))
        buffer_state = attrs.evolve(after_failures(1, size_bytes=2001), failed_at=5000.0)
        for number in range(50):
            buffer_state = buffer_state.after_failed_compaction(float(number))
        assert policy.next_step(buffer_state) == Due(Step.COMPACT, 649.0)

    def test_after_too_many_failures_the_oldest_half_is_set_aside(self) -> None:
        buffer_state = after_failures(3, size_bytes=2001)
        for second in (50.0, 60.0, 80.0):
            buffer_state = buffer_state.after_failed_compaction(second)
        assert due(buffer_state) == Due(Step.SET_ASIDE, AT_ONCE)

    @pytest.mark.parametrize("success", [BufferState.after_compaction, partial(BufferState.after_run, was_part=False)])
    def test_a_success_forgets_the_failures(self, success: Callable[[BufferState], BufferState]) -> None:
        assert success(KNOWN.after_failed_compaction(1.0)).compaction_failure_count == 0

    def test_one_entry_alone_is_neither_compacted_nor_halved(self) -> None:
        lone = attrs.evolve(after_failures(1, size_bytes=9000).after_setting_aside(0), look_at=math.inf)
        assert due(lone).step is Step.LEARN
        assert due(lone.with_arrival(1, now=0.0)).step is Step.SET_ASIDE


class TestCeiling:
    def test_above_it_the_oldest_half_is_set_aside_before_anything_else(self) -> None:
        full = attrs.evolve(KNOWN, event_count=3, size_bytes=8001, is_flushed=True)
        assert due(full) == Due(Step.SET_ASIDE, AT_ONCE)
        assert due(attrs.evolve(full, size_bytes=8000)).step is Step.LEARN

    def test_it_holds_without_compaction(self) -> None:
        policy = SchedulePolicy(attrs.evolve(SETTINGS, compacts=False))
        assert policy.next_step(attrs.evolve(KNOWN, event_count=3, size_bytes=8001)).step is Step.SET_ASIDE


class TestLooking:
    def test_the_store_is_believed(self) -> None:
        guessed = attrs.evolve(KNOWN, event_count=50, size_bytes=5000, look_at=AT_ONCE)
        found = guessed.as_found(BufferSize(2, 20, 3), parked_cluster_count=1, retry_at=9.0, before=guessed)
        assert (found.event_count, found.size_bytes, found.parked_event_count) == (2, 20, 3)
        assert (found.parked_cluster_count, found.retry_at, found.look_at) == (1, 9.0, math.inf)

    def test_nothing_is_overdue_where_nothing_waits(self) -> None:
        returned = KNOWN.after_taking_back()
        found = returned.as_found(BufferSize(), parked_cluster_count=0, retry_at=math.inf, before=returned)
        assert due(found.with_arrival(10, now=5.0)).at == 35.0

    def test_what_arrives_while_the_store_is_read_is_not_forgotten(self) -> None:
        before = BufferState(breaker=CLOSED).with_arrival(10, now=0.0)
        buffer_state = before.with_arrival(7, now=1.0)
        found = buffer_state.as_found(BufferSize(1, 10), parked_cluster_count=0, retry_at=math.inf, before=before)
        assert (found.event_count, found.size_bytes) == (2, 17)


class TestRelearning:
    ASKED = attrs.evolve(KNOWN, relearn_at=50.0)

    def test_its_next_batch_is_due_at_once(self) -> None:
        assert due(self.ASKED) == Due(Step.RELEARN, 50.0)

    def test_what_was_due_before_it_goes_first(self) -> None:
        waiting = attrs.evolve(self.ASKED, event_count=1, size_bytes=10, last_arrival=10.0)
        assert due(waiting) == Due(Step.LEARN, 40.0)
        assert due(attrs.evolve(self.ASKED, retry_at=49.0)) == Due(Step.RETRY, 49.0)

    def test_what_is_due_after_it_waits_for_one_batch(self) -> None:
        waiting = attrs.evolve(self.ASKED, event_count=1, size_bytes=10, last_arrival=30.0)
        assert due(waiting) == Due(Step.RELEARN, 50.0)
        assert due(attrs.evolve(waiting, relearn_at=61.0)) == Due(Step.LEARN, 60.0)

    def test_a_flush_goes_first(self) -> None:
        assert due(attrs.evolve(self.ASKED, is_flushed=True)) == Due(Step.ANSWER, AT_ONCE)


def test_after_trouble_the_store_is_read_again_after_a_pause_that_grows() -> None:
    once = KNOWN.with_arrival(9_000, now=99.0).after_trouble(100.0, TIMETABLE)
    assert due(once) == Due(Step.LOOK, 110.0)
    assert due(once.after_trouble(200.0, TIMETABLE)).at > 210.0
