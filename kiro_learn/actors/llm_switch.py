"""Who learns just now: the model, or the learner that stands in while the model is sick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import structlog
import trio

from kiro_learn.actors.llm_ledger import LlmLedger, UsageStatistics
from kiro_learn.breaker import BreakerState, CircuitBreaker
from kiro_learn.errors import BudgetSpent, LlmError, ModelSick, NoModel
from kiro_learn.llm.interface import Llm, LlmChoice, is_model

log = structlog.get_logger()

SPENT = "{0.calls:,} of {0.limit:,} calls today: the built-in learner goes on until midnight (UTC)"
TOO_SLOW = "the learner took too long"


@attrs.frozen
class LlmStatistics:
    """Who learns, as of now."""

    strategy: str
    """That new records carry."""
    name: str
    """Of the program or model that words them."""
    reason: str
    """Why it and not another: as was decided when the daemon started, or because the day's calls are used up."""
    stands_in_for: str | None
    """The name of the model that is sick or may not be asked any more today; None while the chosen one learns."""
    problem: str | None
    """Why the chosen one failed last; None once it has worked again."""
    usage: UsageStatistics


class LlmSwitch:
    """Asks the preferred learner, unless it has failed run after run and there is another to stand in.

    The count is over all projects: they all ask the same model. After the cooldown one run tries the preferred one
    again; until it is known how that went, the others ask the stand-in, or wait where there is none.

    Once a model was asked as often as it may be on one day, the built-in learner learns until the next, always.
    """

    def __init__(self, choice: LlmChoice, breaker: CircuitBreaker, ledger: LlmLedger) -> None:
        self._choice = choice
        self._breaker = breaker
        self._ledger = ledger
        self._trial: trio.Event | None = None
        self._problem: str | None = None

    def current(self) -> Llm:
        """Whom a run should ask that starts now."""
        built_in_learns = self._is_spent() or (self._choice.stands_in and self._is_given_up())
        return self._choice.built_in if built_in_learns else self._choice.preferred

    @property
    def stays_here(self) -> bool:
        """What the preferred learner is asked is known to stay on this machine."""
        return self._choice.stays_here

    def model(self) -> Llm:
        """The model, if it may be asked just now, and is not one that failed run after run.

        Raises:
          NoModel: none is set up.
          BudgetSpent: it was asked often enough for today.
          ModelSick: it is left alone until it is tried again.
        """
        preferred = self._choice.preferred
        if not is_model(preferred):
            raise NoModel(self._choice.reason)
        self._ledger.check()
        if self._is_given_up():
            raise ModelSick(preferred.name, str(self._problem))
        return preferred

    async def wait_for_trial(self) -> None:
        """While another run tries a model that was sick, and nobody stands in for it, wait how that goes.

        Raises:
          LlmError: it failed again; it would be no use to ask it once more right now.
        """
        while self._trial is not None and self.current() is self._choice.preferred:
            await self._trial.wait()
            if self._state() is BreakerState.OPEN:
                raise LlmError(str(self._problem))

    @contextmanager
    def asking(self) -> Iterator[Llm]:
        """Whom to ask, for the length of a block; how it ends says how that one is. Cancelled, it says nothing.

        To be entered right after ``wait_for_trial``: in between, another run may have become the trial.
        """
        llm = self.current()
        try:
            with self._trying(llm):
                yield llm
        except BudgetSpent:
            raise
        except (LlmError, trio.TooSlowError) as error:
            self._failed(llm, str(error) or TOO_SLOW)
            raise
        else:
            self._worked(llm)

    @contextmanager
    def asking_model(self) -> Iterator[Llm]:
        """As ``asking``, but of a model, or of nobody. Raises what ``model`` does."""
        self.model()
        with self.asking() as llm:
            yield llm

    def statistics(self) -> LlmStatistics:
        current, preferred, usage = self.current(), self._choice.preferred, self._ledger.statistics()
        return LlmStatistics(
            strategy=current.strategy,
            name=current.name,
            reason=SPENT.format(usage) if self._is_spent() else self._choice.reason,
            stands_in_for=None if current is preferred else preferred.name,
            problem=self._problem,
            usage=usage,
        )

    def _is_spent(self) -> bool:
        return is_model(self._choice.preferred) and self._ledger.is_spent

    def _state(self) -> BreakerState:
        return self._breaker.state(trio.current_time())

    @contextmanager
    def _trying(self, llm: Llm) -> Iterator[None]:
        if self._trial is not None or llm is not self._choice.preferred or self._state() is not BreakerState.HALF_OPEN:
            yield
            return
        self._trial = trio.Event()
        try:
            yield
        finally:
            self._trial.set()
            self._trial = None

    def _is_given_up(self) -> bool:
        state = self._state()
        return state is BreakerState.OPEN or (state is BreakerState.HALF_OPEN and self._trial is not None)

    def _worked(self, llm: Llm) -> None:
        if llm is self._choice.preferred:
            self._breaker, self._problem = self._breaker.after_success(), None

    def _failed(self, llm: Llm, problem: str) -> None:
        if llm is self._choice.preferred:
            self._breaker, self._problem = self._breaker.after_failure(trio.current_time()), problem
            if self.current() is not llm:
                log.warning("learning.stood_in", strategy=self.current().strategy, problem=problem)
