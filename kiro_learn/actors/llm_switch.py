"""Who learns just now: the model, or the learner that stands in while the model is sick."""

from __future__ import annotations

import attrs
import structlog
import trio

from kiro_learn.breaker import BreakerState, CircuitBreaker
from kiro_learn.llm.interface import Llm, LlmChoice

log = structlog.get_logger()


@attrs.frozen
class LlmStatistics:
    """Who learns, as of now."""

    strategy: str
    """That new records carry."""
    name: str
    """Of the program or model that words them."""
    reason: str
    """Why it and not another was chosen, when the daemon started."""
    stands_in_for: str | None
    """The name of the model that is sick; None while the chosen one works."""
    problem: str | None
    """Why the chosen one failed last; None once it has worked again."""


class LlmSwitch:
    """Asks the preferred learner, unless it has failed run after run and there is another to stand in.

    The count is over all projects: they all ask the same model. After the cooldown the preferred one is asked again.
    """

    def __init__(self, choice: LlmChoice, breaker: CircuitBreaker) -> None:
        self._choice = choice
        self._breaker = breaker
        self._problem: str | None = None

    def current(self) -> Llm:
        """Whom the next run should ask."""
        stand_in = self._choice.stand_in
        is_open = self._breaker.state(trio.current_time()) is BreakerState.OPEN
        return stand_in if stand_in is not None and is_open else self._choice.preferred

    def worked(self, llm: Llm) -> None:
        """A run with ``llm`` gave usable answers."""
        if llm is self._choice.preferred:
            self._breaker, self._problem = self._breaker.after_success(), None

    def failed(self, llm: Llm, problem: str) -> None:
        """A run with ``llm`` came to nothing."""
        if llm is self._choice.preferred:
            self._breaker, self._problem = self._breaker.after_failure(trio.current_time()), problem
            if self.current() is not llm:
                log.warning("learning.stood_in", strategy=self.current().strategy, problem=problem)

    def statistics(self) -> LlmStatistics:
        current, preferred = self.current(), self._choice.preferred
        return LlmStatistics(
            strategy=current.strategy,
            name=current.name,
            reason=self._choice.reason,
            stands_in_for=None if current is preferred else preferred.name,
            problem=self._problem,
        )
