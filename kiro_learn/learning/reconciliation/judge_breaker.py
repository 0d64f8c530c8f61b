"""The circuit breaker of a project's judge, as a value."""

from __future__ import annotations

import attrs

FAILURES = 3
"""Clusters in a row without a usable verdict."""


@attrs.frozen(kw_only=True)
class JudgeBreaker:
    """The judge's circuit breaker: open after FAILURES in a row; closed again by a run in which the judge did not fail.

    It knows no clock: the first run that begins while it is open asks no judge, so it cannot fail, and closes it.
    """

    failure_count: int = 0
    is_open: bool = False

    def after_verdict(self) -> JudgeBreaker:
        """The judge gave a usable verdict, whatever it was."""
        return attrs.evolve(self, failure_count=0)

    def after_failure(self) -> JudgeBreaker:
        """The judge gave no usable verdict on one cluster, or none in time."""
        count = self.failure_count + 1
        return attrs.evolve(self, failure_count=count, is_open=self.is_open or count >= FAILURES)

    def after_run(self, *, failed: bool) -> JudgeBreaker:
        """A run is over; ``failed``: the judge failed in it at least once."""
        return self if failed else JudgeBreaker()
