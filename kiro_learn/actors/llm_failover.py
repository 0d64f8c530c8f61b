"""Chooses the learner of a project: the preferred one, or the fallback while the preferred one fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import structlog
import trio

from kiro_learn.actors.llm_quota import LlmQuota, UsageStatistics
from kiro_learn.errors import BatchRefused, BudgetSpent, LlmError, ModelSick, NoModel
from kiro_learn.model.buffer import BreakerState, CircuitBreaker
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.metered_llm import is_model
from kiro_learn.ports.llm import TOO_SLOW, Learner, Llm, LlmChoice

log = structlog.get_logger()

SPENT = "{0.calls:,} of {0.limit:,} calls today: the built-in learner goes on until midnight (UTC)"


@attrs.frozen
class LlmStatistics:
    """Which learner is in use, and why."""

    strategy: str
    """The strategy name that new records carry."""
    name: str
    """The name of the program or model that writes them."""
    reason: str
    """Why this learner is in use: the choice made when the daemon started, or the day's calls are used up."""
    obstacle: str | None
    """Why ``auto`` does not use its agent; None where it does, and where another was asked for."""
    stands_in_for: str | None
    """The name of the model that fails in some project, or has used up its daily calls; None while the chosen one
    learns."""
    problem: str | None
    """Why the chosen one failed last; None once it has worked again in the projects in which it failed."""
    warning: str | None
    """What is wrong with how the chosen one is set up, although it answers; None if nothing is known."""
    usage: UsageStatistics


class LlmFailover:
    """Asks the preferred learner, or the fallback, if there is one, once the preferred one's breaker is open.

    Each project has a breaker of its own, so a failure in one project costs no other project a run. After the cooldown
    the project's next run tries the preferred learner again.

    Once a model has used up its daily calls, the built-in learner learns until the next day.
    """

    def __init__(self, choice: LlmChoice, breaker: CircuitBreaker, ledger: LlmQuota) -> None:
        self._choice = choice
        self._closed = breaker
        self._ledger = ledger
        self._breakers: dict[Namespace, CircuitBreaker] = {}
        """Of the projects in which the preferred learner failed last, the latest failure last."""
        self._problems: dict[Namespace, str] = {}
        """Why it did, in the same order."""

    def current(self, namespace: Namespace) -> Llm | Learner:
        """The learner that a run of this project asks if it starts now."""
        built_in_learns = self._is_spent() or (self._choice.stands_in and self._is_breaker_open(namespace))
        return self._choice.built_in if built_in_learns else self._choice.preferred

    @property
    def built_in(self) -> Llm | Learner:
        """The learner that needs no model."""
        return self._choice.built_in

    @property
    def stays_here(self) -> bool:
        """What the preferred learner is asked is known to stay on this machine."""
        return self._choice.stays_here

    def model(self, *namespaces: Namespace) -> Llm:
        """The model, if its quota is not spent and its breaker is closed in all of these projects.

        Raises:
          NoModel: none is set up.
          BudgetSpent: it was asked often enough for today.
          ModelSick: its breaker is open.
        """
        preferred = self._choice.preferred
        if not is_model(preferred):
            raise NoModel(self._choice.reason)
        self._ledger.check()
        for namespace in filter(self._is_breaker_open, namespaces):
            raise ModelSick(preferred.name, self._problems[namespace])
        return preferred

    def is_on_trial(self, namespace: Namespace) -> bool:
        """The model's breaker is open in this project: it failed in several runs, and has not succeeded since."""
        return self._breaker(namespace).is_open

    def is_model_failing(self, namespace: Namespace) -> bool:
        """The preferred learner is a model, failed in this project last, and failed its health check too."""
        return namespace in self._breakers and is_model(self._choice.preferred)

    @contextmanager
    def asking(self, namespace: Namespace) -> Iterator[Llm | Learner]:
        """The learner to ask inside the block; an error that leaves the block is its failure, a cancellation is not."""
        llm = self.current(namespace)
        try:
            yield llm
        except BudgetSpent:
            raise
        except BatchRefused:
            self._note_success(namespace, llm)
            raise
        except (LlmError, trio.TooSlowError) as error:
            self._note_failure(namespace, llm, str(error) or TOO_SLOW)
            raise
        else:
            self._note_success(namespace, llm)

    @contextmanager
    def asking_model(self, namespace: Namespace) -> Iterator[Llm]:
        """As ``asking``, but always the model, never a fallback. Raises what ``model`` does."""
        model = self.model(namespace)
        with self.asking(namespace):
            yield model

    def statistics(self) -> LlmStatistics:
        preferred, usage, is_spent = self._choice.preferred, self._ledger.statistics(), self._is_spent()
        is_fallback_in_use = is_spent or (self._choice.stands_in and any(map(self._is_breaker_open, self._breakers)))
        current = self._choice.built_in if is_fallback_in_use else preferred
        return LlmStatistics(
            strategy=current.strategy,
            name=current.name,
            reason=SPENT.format(usage) if is_spent else self._choice.reason,
            obstacle=self._choice.obstacle or None,
            stands_in_for=None if current is preferred else preferred.name,
            problem=next(reversed(self._problems.values()), None),
            warning=self._choice.warning() or None,
            usage=usage,
        )

    def _is_spent(self) -> bool:
        return is_model(self._choice.preferred) and self._ledger.is_spent

    def _breaker(self, namespace: Namespace) -> CircuitBreaker:
        return self._breakers.get(namespace, self._closed)

    def _is_breaker_open(self, namespace: Namespace) -> bool:
        return self._breaker(namespace).state(trio.current_time()) is BreakerState.OPEN

    def _note_success(self, namespace: Namespace, llm: Llm | Learner) -> None:
        if llm is self._choice.preferred:
            self._breakers.pop(namespace, None)
            self._problems.pop(namespace, None)

    def _note_failure(self, namespace: Namespace, llm: Llm | Learner, problem: str) -> None:
        if llm is self._choice.preferred:
            breaker = self._breaker(namespace).after_failure(trio.current_time())
            self._note_success(namespace, llm)
            self._breakers[namespace], self._problems[namespace] = breaker, problem
            if self.current(namespace) is not llm:
                log.warning("learning.stood_in", strategy=self.current(namespace).strategy, problem=problem)
