"""Chooses the learner of a project, and counts the calls of models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import (
    AgentWantsLogin,
    BatchRefused,
    BudgetSpent,
    KiroLearnError,
    LlmError,
    ModelSick,
    NoModel,
)
from kiro_learn.model.buffer import BreakerState, CircuitBreaker
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import LlmCall, LlmUsage
from kiro_learn.pipelines.learn.asking import is_model
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import TOO_SLOW, Learner, Llm, LlmChoice
from kiro_learn.ports.storage.events import UsageReads
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.runtime.supervisor import Rounds

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
    """Why ``auto`` does not use its agent; None if it does, or if another learner was asked for."""
    stands_in_for: str | None
    """The name of the model that fails in some project, or has used up its daily calls; None while the chosen learner
    learns."""
    problem: str | None
    """The last failure of the chosen learner; None once it has worked again in all projects in which it failed."""
    login: str | None
    """The command that logs in to its agent, if the last failure is the lack of a login and the command is known."""
    warning: str | None
    """What is wrong with the setup of the chosen learner, although it answers; None if nothing is known."""
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
        """The breakers of the projects in which the preferred learner failed last, the latest failure last."""
        self._problems: dict[Namespace, LlmError | trio.TooSlowError] = {}
        """These failures, in the same order."""
        self._worked_at = -math.inf
        """When the preferred learner worked last, in any project."""

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
        """Whether prompts to the preferred learner are known to stay on this machine."""
        return self._choice.stays_here

    def model(self, *namespaces: Namespace) -> Llm:
        """The model, if its quota is not spent and its breaker is closed in all of these projects.

        Raises:
          NoModel: no model is set up.
          BudgetSpent: the model was asked often enough for today.
          ModelSick: its breaker is open.
        """
        preferred = self._choice.preferred
        if not is_model(preferred):
            raise NoModel(self._choice.reason)
        self._ledger.check()
        for namespace in filter(self._is_breaker_open, namespaces):
            raise ModelSick(preferred.name, _said(self._problems[namespace]))
        return preferred

    def is_on_trial(self, namespace: Namespace) -> bool:
        """Whether the model's breaker is open in this project: several runs failed, and none succeeded since."""
        return self._breaker(namespace).is_open

    def is_model_failing(self, namespace: Namespace) -> bool:
        """Whether the preferred learner is a model that failed last in this project, and also in its health check."""
        return namespace in self._breakers and is_model(self._choice.preferred)

    @contextmanager
    def asking(self, namespace: Namespace) -> Iterator[Llm | Learner]:
        """The learner to ask inside the block. An error that leaves the block is its failure, a cancellation not."""
        llm = self.current(namespace)
        try:
            yield llm
        except BudgetSpent:
            raise
        except BatchRefused:
            self._note_success(namespace, llm)
            raise
        except (LlmError, trio.TooSlowError) as error:
            self._note_failure(namespace, llm, error)
            raise
        else:
            self._note_success(namespace, llm)

    @contextmanager
    def asking_model(self, namespace: Namespace) -> Iterator[Llm]:
        """Like ``asking``, but always the model, never a fallback. Raises the errors of ``model``."""
        model = self.model(namespace)
        with self.asking(namespace):
            yield model

    def statistics(self) -> LlmStatistics:
        preferred, usage, is_spent = self._choice.preferred, self._ledger.statistics(), self._is_spent()
        is_fallback_in_use = is_spent or (self._choice.stands_in and any(map(self._is_known_to_fail, self._breakers)))
        current = self._choice.built_in if is_fallback_in_use else preferred
        failure = next(reversed(self._problems.values()), None)
        return LlmStatistics(
            strategy=current.strategy,
            name=current.name,
            reason=SPENT.format(usage) if is_spent else self._choice.reason,
            obstacle=self._choice.obstacle or None,
            stands_in_for=None if current is preferred else preferred.name,
            problem=None if failure is None else _said(failure),
            login=(failure.login or None) if isinstance(failure, AgentWantsLogin) else None,
            warning=self._choice.warning() or None,
            usage=usage,
        )

    def _is_spent(self) -> bool:
        return is_model(self._choice.preferred) and self._ledger.is_spent

    def _breaker(self, namespace: Namespace) -> CircuitBreaker:
        return self._breakers.get(namespace, self._closed)

    def _is_breaker_open(self, namespace: Namespace) -> bool:
        return self._breaker(namespace).state(trio.current_time()) is BreakerState.OPEN

    def _is_known_to_fail(self, namespace: Namespace) -> bool:
        """Whether the breaker is open; also after the cooldown, until the preferred learner has worked anywhere."""
        opened_at = self._breaker(namespace).opened_at
        return self._is_breaker_open(namespace) or (opened_at is not None and opened_at > self._worked_at)

    def _note_success(self, namespace: Namespace, llm: Llm | Learner) -> None:
        if llm is self._choice.preferred:
            self._worked_at = trio.current_time()
            self._forget_failure(namespace)

    def _forget_failure(self, namespace: Namespace) -> None:
        self._breakers.pop(namespace, None)
        self._problems.pop(namespace, None)

    def _note_failure(self, namespace: Namespace, llm: Llm | Learner, problem: LlmError | trio.TooSlowError) -> None:
        if llm is self._choice.preferred:
            breaker = self._breaker(namespace).after_failure(trio.current_time())
            self._forget_failure(namespace)
            self._breakers[namespace], self._problems[namespace] = breaker, problem
            if self.current(namespace) is not llm:
                log.warning("learning.stood_in", strategy=self.current(namespace).strategy, problem=_said(problem))


def _said(problem: LlmError | trio.TooSlowError) -> str:
    return str(problem) or TOO_SLOW


# Counts of model calls, by day (UTC) and project: kept in memory, and written to the store a moment later.

Totals = dict[tuple[date, Namespace], LlmUsage]


@attrs.frozen(kw_only=True)
class ProjectUsage:
    """One project's use of models today; the fields are those of LlmUsage."""

    namespace: Namespace
    calls: int
    failures: int
    characters_in: int
    characters_out: int
    seconds: float


@attrs.frozen(kw_only=True)
class UsageStatistics:
    """The use of models today, by all projects."""

    day: date
    calls: int
    limit: int
    """The most calls of one day; 0: no limit."""
    is_spent: bool
    """True: no model is asked any more today."""
    failures: int
    characters_in: int
    characters_out: int
    seconds: float
    projects: tuple[ProjectUsage, ...]


class LlmQuota:
    """Counts the calls of models against the daily limit: a call when it begins, its size and time when it ends.

    The store lags behind by the last counts. A write that fails is tried again with the next call, and at the end; no
    call waits for it, or fails because of it.
    """

    name = "llm quota"

    def __init__(self, storage: UsageReads, writer: StorageActor, clock: ClockAndIds, *, daily_calls: int) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._daily_calls = daily_calls
        self._known: Totals | None = None
        self._unstored: Totals = {}
        self._rounds = Rounds()

    @property
    def is_spent(self) -> bool:
        """Whether today's calls are used up."""
        return 0 < self._daily_calls <= self._call_count()

    def check(self) -> None:
        """Check the quota. Raises BudgetSpent: no model may be asked any more today."""
        if self.is_spent:
            raise BudgetSpent(self._daily_calls)

    def began(self, namespace: Namespace, prompt: str) -> LlmCall:
        """Count a call that begins now.

        Raises:
          BudgetSpent: no model may be asked any more today; nothing was counted.
        """
        self.check()
        call = LlmCall(self._day(), namespace, trio.current_time())
        self._add(_usage(call, call_count=1, characters_in=len(prompt)))
        if self._call_count() == self._daily_calls:
            log.warning("llm.budget_spent", day=call.day.isoformat(), call_count=self._daily_calls)
        return call

    def not_asked(self, call: LlmCall, prompt: str) -> None:
        """Undo the count of a call for which nothing was sent."""
        self._add(_usage(call, call_count=-1, characters_in=-len(prompt)))

    def ended(self, call: LlmCall, answer: str | None) -> None:
        """Count the answer of a call that has ended; None if there is no answer."""
        seconds = trio.current_time() - call.started_at
        self._add(_usage(call, failure_count=int(answer is None), characters_out=len(answer or ""), seconds=seconds))

    def statistics(self) -> UsageStatistics:
        projects = tuple(map(_of_project, sorted(self._of_today(), key=lambda usage: usage.namespace)))
        return UsageStatistics(
            day=self._day(),
            calls=sum(each.calls for each in projects),
            limit=self._daily_calls,
            is_spent=self.is_spent,
            failures=sum(each.failures for each in projects),
            characters_in=sum(each.characters_in for each in projects),
            characters_out=sum(each.characters_out for each in projects),
            seconds=round(sum(each.seconds for each in projects), 1),
            projects=projects,
        )

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        if self._known is None:
            self._known = {_key(usage): usage for usage in await self._storage.list_llm_usage(since=self._day())}
        task_status.started()
        await self._rounds.run(self._store)
        await self._store()  # what the last round could not store: no call follows

    def stop(self) -> None:
        self._rounds.stop()

    abandon = stop  # no caller waits for an answer

    def _day(self) -> date:
        return self._clock.utc_now().date()

    def _of_today(self) -> list[LlmUsage]:
        today = self._day()
        return [usage for (day, _), usage in (self._known or {}).items() if day == today]

    def _call_count(self) -> int:
        return sum(usage.call_count for usage in self._of_today())

    def _add(self, usage: LlmUsage) -> None:
        assert self._known is not None, "today's usage is read before the first call"
        _add_to(self._known, usage)
        _add_to(self._unstored, usage)
        self._rounds.begin_soon()

    async def _store(self) -> None:
        if not self._unstored:
            return
        usages, self._unstored = tuple(self._unstored.values()), {}
        try:
            await self._writer.write(lambda transaction: _put(transaction, usages))
        except KiroLearnError as error:
            log.warning("llm_usage.not_stored", problem=str(error))
            for usage in usages:
                _add_to(self._unstored, usage)


def _usage(
    call: LlmCall,
    *,
    call_count: int = 0,
    failure_count: int = 0,
    characters_in: int = 0,
    characters_out: int = 0,
    seconds: float = 0.0,
) -> LlmUsage:
    return LlmUsage(
        day=call.day,
        namespace=call.namespace,
        call_count=call_count,
        failure_count=failure_count,
        characters_in=characters_in,
        characters_out=characters_out,
        seconds=seconds,
    )


def _key(usage: LlmUsage) -> tuple[date, Namespace]:
    return usage.day, usage.namespace


def _add_to(totals: Totals, usage: LlmUsage) -> None:
    before = totals.get(_key(usage))
    totals[_key(usage)] = usage if before is None else before + usage


def _put(transaction: StorageTransaction, usages: Sequence[LlmUsage]) -> None:
    for usage in usages:
        transaction.add_llm_usage(usage)


def _of_project(usage: LlmUsage) -> ProjectUsage:
    return ProjectUsage(
        namespace=usage.namespace,
        calls=usage.call_count,
        failures=usage.failure_count,
        characters_in=usage.characters_in,
        characters_out=usage.characters_out,
        seconds=round(usage.seconds, 1),
    )
