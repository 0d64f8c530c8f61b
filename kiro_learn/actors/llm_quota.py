"""Counts of model calls, by day (UTC) and project: kept in memory, and written to the store a moment later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import BudgetSpent, KiroLearnError
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import LlmCall, LlmUsage
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.buffer import UsageReads
from kiro_learn.ports.storage.interface import StorageTransaction

log = structlog.get_logger()

Totals = dict[tuple[date, Namespace], LlmUsage]


@attrs.frozen(kw_only=True)
class ProjectUsage:
    """What one project asked of models today; as in LlmUsage."""

    namespace: Namespace
    calls: int
    failures: int
    characters_in: int
    characters_out: int
    seconds: float


@attrs.frozen(kw_only=True)
class UsageStatistics:
    """What all projects asked of models today."""

    day: date
    calls: int
    limit: int
    """Most calls of one day; 0: no limit."""
    is_spent: bool
    """No model is asked any more today."""
    failures: int
    characters_in: int
    characters_out: int
    seconds: float
    projects: tuple[ProjectUsage, ...]


class LlmQuota:
    """Counts the calls of models against the daily limit: a call when it begins, its size and time when it ends.

    The store lags behind by the last counts. A write that fails is tried again with the next call; no call waits for
    it, or fails because of it.
    """

    name = "llm quota"

    def __init__(self, storage: UsageReads, writer: StorageActor, clock: ClockAndIds, *, daily_calls: int) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._daily_calls = daily_calls
        self._known: Totals | None = None
        self._unstored: Totals = {}
        self._changed = trio.Event()
        self._stopping = False

    @property
    def is_spent(self) -> bool:
        """Today's calls are used up."""
        return 0 < self._daily_calls <= self._call_count()

    def check(self) -> None:
        """Raises BudgetSpent: no model may be asked any more today."""
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
        """Undo the count of a call of which nothing was sent."""
        self._add(_usage(call, call_count=-1, characters_in=-len(prompt)))

    def ended(self, call: LlmCall, answer: str | None) -> None:
        """Count the answer of a call that is over; None if it has none."""
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
        while not self._stopping:
            await self._changed.wait()
            self._changed = trio.Event()
            await self._store()
        await self._store()

    def stop(self) -> None:
        self._stopping = True
        self._changed.set()

    def abandon(self) -> None:
        self.stop()

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
        self._changed.set()

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
