from __future__ import annotations

from kiro_learn.learning.reconciliation.judge import JudgeBreaker


def after_failures(count: int) -> JudgeBreaker:
    breaker = JudgeBreaker()
    for _ in range(count):
        breaker = breaker.after_failure()
    return breaker


def test_it_opens_at_the_third_failure_in_a_row() -> None:
    assert [after_failures(count).is_open for count in range(5)] == [False, False, False, True, True]


def test_a_verdict_between_failures_starts_the_count_anew() -> None:
    assert not after_failures(2).after_verdict().after_failure().is_open


def test_a_verdict_does_not_close_it_but_a_run_without_failure_does() -> None:
    opened = after_failures(3)

    assert opened.after_verdict().is_open
    assert opened.after_run(failed=False) == JudgeBreaker()


def test_a_run_with_a_failure_leaves_it_as_it_is() -> None:
    assert after_failures(2).after_run(failed=True) == after_failures(2), "two more runs like this open it"
