"""A part of an answer that may be missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from kiro_learn.runtime.supervisor import catch_errors, reason

T = TypeVar("T")

LATE = "late"


@attrs.define(eq=False)
class OptionalResult(Generic[T]):
    """The result of one step of a search, which may fail or be late without harm to the others."""

    result: T
    is_asked: bool
    problem: str | None = LATE
    """Why there is no result; None if there is one."""

    async def run(self, what: str, work: Callable[[], Awaitable[T]]) -> None:
        """Do ``work`` if it is asked for, and keep its result or the reason why there is none."""
        if not self.is_asked:
            return
        outcome = await catch_errors(what, work)
        if isinstance(outcome, Exception):
            self.problem = reason(outcome)
        else:
            self.result, self.problem = outcome, None

    def reasons(self, what: str) -> tuple[str, ...]:
        """Why ``what`` is missing from an answer; empty if it is there or was not asked for."""
        return (f"{what}: {self.problem}",) if self.is_asked and self.problem else ()
