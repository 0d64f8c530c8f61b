"""The steps that a project's actor takes, and the state that it keeps between them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import attrs
import structlog
import trio

from kiro_learn.actors.relearning import Relearning
from kiro_learn.errors import BatchRefused, KiroLearnError, LlmError, StorageError, UnexpectedError
from kiro_learn.learning.extraction.splitting import half_count, part_to_try
from kiro_learn.learning.reconciliation.judge import JudgeBreaker
from kiro_learn.learning.schedule import BufferState, SchedulePolicy, Step
from kiro_learn.model.buffer import BufferSnapshot, CircuitBreaker
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.settings import ScheduleSettings
from kiro_learn.pipelines.learn.compaction import Compactor
from kiro_learn.pipelines.learn.learning_run import Learned, Learner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import TOO_SLOW
from kiro_learn.ports.storage.events import BufferReads
from kiro_learn.ports.storage.interface import OtherDaemons
from kiro_learn.runtime.supervisor import Reply, catch_errors

log = structlog.get_logger()


@attrs.frozen
class Flushed:
    """The counts of what a flush learned."""

    event_count: int = 0
    record_count: int = 0

    def with_run(self, learned: Learned) -> Flushed:
        return Flushed(self.event_count + learned.event_count, self.record_count + learned.record_count)


class Flushes:
    """The callers that wait for a flush, and the counts of what was learned meanwhile."""

    def __init__(self) -> None:
        self._replies: list[Reply[Flushed]] = []
        self._flushed = Flushed()

    def add(self, reply: Reply[Flushed]) -> None:
        self._replies.append(reply)

    def count(self, learned: Learned) -> None:
        if self._replies:
            self._flushed = self._flushed.with_run(learned)

    def answer(self, error: KiroLearnError | None) -> None:
        """Answer all callers with the counts, or with ``error``."""
        replies, self._replies = self._replies, []
        flushed, self._flushed = self._flushed, Flushed()
        for reply in replies:
            if error is None:
                reply.answer(flushed)
            else:
                reply.refuse(error)


@attrs.frozen(eq=False, kw_only=True)
class ProjectDependencies:
    """What every project's actor needs."""

    storage: BufferReads
    others: OtherDaemons
    learner: Learner
    compactor: Compactor
    run_slots: trio.CapacityLimiter
    clock: ClockAndIds
    schedule: ScheduleSettings
    breaker: CircuitBreaker
    """The closed breaker that a project begins with."""
    idle_seconds: float
    """How long an actor without work waits before it ends."""


class ProjectWork:
    """Carries out the steps of a project's actor, which alone calls it, one at a time."""

    def __init__(self, namespace: Namespace, dependencies: ProjectDependencies) -> None:
        self._name = f"project {namespace}"
        self._namespace = namespace
        self._dependencies = dependencies
        self._policy = SchedulePolicy(dependencies.schedule)
        self._is_over_ceiling = False
        self.buffer_state = BufferState(breaker=dependencies.breaker, last_arrival=trio.current_time())
        self.judge_breaker = JudgeBreaker()
        self.problem: str | None = None
        """The last failure; None once a run has succeeded since."""
        self.refused_event_count = 0
        self.refusal: str | None = None
        self.flushes = Flushes()
        self.relearnings: deque[Relearning] = deque()
        self.is_learning = False

    async def take(self, step: Step) -> None:
        """Carry out ``step``. Errors that it does not handle are raised; the caller gives them to ``after_trouble``."""
        match step:
            case Step.LOOK:
                await self._look()
            case Step.ANSWER:
                self._answer_flushes(None)
            case Step.SET_ASIDE:
                await self._set_aside()
            case Step.TAKE_BACK:
                await self._take_back()
            case Step.LEARN | Step.RETRY | Step.COMPACT | Step.RELEARN:
                await self._take_with_slot(step)

    async def _take_with_slot(self, step: Step) -> None:
        """Carry out a step that may ask a model; it holds a run slot and the project's turn from beginning to end.

        If another daemon on the same store has the turn, do nothing for a while. A caller who flushes waits as long.
        """
        async with self._dependencies.run_slots, self._dependencies.others.turn(self._name) as is_ours:
            if not is_ours:
                self.buffer_state = self.buffer_state.after_trouble(trio.current_time(), self._policy)
                return
            self.is_learning = True
            try:
                if step is Step.LEARN:
                    await self._learn()
                elif step is Step.RETRY:
                    await self._retry()
                elif step is Step.RELEARN:
                    await self._relearn()
                else:
                    await self._compact()
            finally:
                self.is_learning = False

    async def _look(self) -> None:
        """Read the sizes of the buffer and of what is parked: only the store is authoritative."""
        before = self.buffer_state
        size = await self._dependencies.storage.get_buffer_size(self._namespace)
        clusters = await self._dependencies.storage.list_parked_clusters(self._namespace)
        utc_now, now = self._dependencies.clock.utc_now(), trio.current_time()
        retry_at = min((now + (cluster.retry_at - utc_now).total_seconds() for cluster in clusters), default=math.inf)
        self.buffer_state = self.buffer_state.as_found(
            size,
            parked_cluster_count=len(clusters),
            retry_at=retry_at,
            before=before,
        )
        self._is_over_ceiling &= self.buffer_state.size_bytes > self._dependencies.schedule.ceiling_bytes

    async def _learn(self) -> None:
        snapshot = await self._dependencies.storage.snapshot_buffer(
            self._namespace, most_bytes=self._dependencies.schedule.extraction_bytes
        )
        if snapshot.entries:
            part = part_to_try(snapshot, self.buffer_state.suspect_count)
            learn = partial(self._dependencies.learner.learn, self._namespace, part, self.judge_breaker)
            learned = await outcome_of(self._name, learn)
            if isinstance(learned, KiroLearnError):
                await self._after_failed_run(snapshot, part, learned)
            else:
                self._after_run(snapshot, learned)
        elif snapshot.damaged_through:
            await self._dependencies.learner.pass_over(self._namespace, through=snapshot.damaged_through)
        self.buffer_state = self.buffer_state.to_be_looked_at()

    def _after_run(self, snapshot: BufferSnapshot, learned: Learned) -> None:
        self._note_learned(learned)
        was_part = learned.event_count < snapshot.event_count
        self.buffer_state = self.buffer_state.after_run(was_part=was_part, entry_count=learned.entry_count)
        self.problem = None
        if learned.refusal is not None:
            self.refused_event_count += learned.event_count
            self.refusal = str(learned.refusal)

    async def _retry(self) -> None:
        """Try the parked clusters again: those that are due, or all if a caller waits for a flush."""
        self._note_learned(
            await self._dependencies.learner.retry_parked(
                self._namespace, self.judge_breaker, all_of_them=self.buffer_state.is_flushed
            )
        )
        self.buffer_state = self.buffer_state.after_retry()

    async def _relearn(self) -> None:
        """Carry out one step of the first relearning; it leaves the list once it is over, also by an error."""
        relearning = self.relearnings[0]
        try:
            self.judge_breaker = await relearning.run_step(self.judge_breaker)
        finally:
            if relearning.is_over:
                self.relearnings.popleft()
            relearn_at = trio.current_time() if self.relearnings else math.inf
            self.buffer_state = attrs.evolve(self.buffer_state, relearn_at=relearn_at)

    async def _compact(self) -> None:
        try:
            has_model = await self._dependencies.compactor.compact(self._namespace)
        except LlmError as error:
            self.buffer_state = self.buffer_state.after_failed_compaction(trio.current_time())
            self.problem = str(error)
            log.warning("compaction.failed", count=self.buffer_state.compaction_failure_count, problem=str(error))
        else:
            self.buffer_state = self.buffer_state.after_compaction()
            if not has_model:
                await self._set_aside()
        self.buffer_state = self.buffer_state.to_be_looked_at()

    async def _set_aside(self) -> None:
        size_bytes = self.buffer_state.size_bytes
        entry_count = await self._dependencies.compactor.set_aside_oldest_half(self._namespace, size_bytes)
        self.buffer_state = self.buffer_state.after_setting_aside(entry_count)
        is_news = size_bytes > self._dependencies.schedule.ceiling_bytes and not self._is_over_ceiling
        self._is_over_ceiling |= is_news
        report = log.warning if is_news else log.info
        report("buffer.set_aside", entry_count=entry_count, size_bytes=size_bytes)

    async def _take_back(self) -> None:
        most_bytes = min(self._dependencies.schedule.extraction_bytes, self._dependencies.schedule.ceiling_bytes)
        await self._dependencies.compactor.take_back(self._namespace, most_bytes=most_bytes)
        self.buffer_state = self.buffer_state.after_taking_back()

    def _note_learned(self, learned: Learned) -> None:
        self.judge_breaker = learned.judge_breaker
        self.flushes.count(learned)

    async def _after_failed_run(self, snapshot: BufferSnapshot, part: BufferSnapshot, error: KiroLearnError) -> None:
        """Halve the next run after one failed to learn ``part``, the beginning of ``snapshot``.

        The next run starts at once if the learner passed its health check or the error was unexpected. A turn that
        fails alone is set aside, so that later turns can be learned, unless the store or the model is failing.
        """
        self.problem = str(error)
        buffer_state, is_one_turn = self.buffer_state, not half_count(part.events)
        if isinstance(error, BatchRefused) and not is_one_turn:
            self.buffer_state = buffer_state.after_refused_batch(error.entry_count, is_learner_well=True)
        elif isinstance(error, UnexpectedError) and not (is_one_turn or buffer_state.breaker.is_open):
            self.buffer_state = buffer_state.after_refused_batch(len(part.entries), is_learner_well=False)
        else:
            is_failing = isinstance(error, StorageError) or self._dependencies.learner.is_model_failing(self._namespace)
            # While the breaker is open, a run fails at its health check, so its entries are not to blame.
            suspect_count = 0 if is_failing and buffer_state.breaker.is_open else len(part.entries)
            self.buffer_state = buffer_state.after_failed_run(trio.current_time(), suspect_count=suspect_count)
            self._answer_flushes(error)
            if is_one_turn and not is_failing and len(part.entries) < len(snapshot.entries):
                await self._dependencies.compactor.set_aside(self._namespace, part)
                self.buffer_state = self.buffer_state.after_setting_aside(len(part.entries))
        await self._dependencies.learner.note_failure(self._namespace, part, problem=self.problem)

    def after_trouble(self, step: Step, error: KiroLearnError) -> None:
        """Schedule ``step`` again after a pause, since it raised ``error``."""
        now = trio.current_time()
        self.problem = str(error)
        if step is Step.RETRY:
            self.buffer_state = self.buffer_state.after_failed_retry(now)
        elif step is Step.COMPACT and not isinstance(error, StorageError):
            self.buffer_state = self.buffer_state.after_failed_compaction(now)
        else:
            self.buffer_state = self.buffer_state.after_trouble(now, self._policy)
        self._answer_flushes(error)
        log.warning("project.step_failed", step=step, problem=self.problem)

    def _answer_flushes(self, error: KiroLearnError | None) -> None:
        self.buffer_state = attrs.evolve(self.buffer_state, is_flushed=False)
        self.flushes.answer(error)


# The outcome of a piece of an actor's work: its result, or one of our own errors, whatever was raised.

T = TypeVar("T")


async def outcome_of(what: str, work: Callable[[], Awaitable[T]]) -> T | KiroLearnError:
    """The result of ``work``, or the error that ended it; an unexpected one is logged with its place.

    Cancellation passes through.
    """

    async def expected() -> T | KiroLearnError:
        try:
            return await work()
        except trio.TooSlowError:
            return LlmError(TOO_SLOW)
        except KiroLearnError as error:
            return error

    outcome = await catch_errors(what, expected)
    if isinstance(outcome, Exception) and not isinstance(outcome, KiroLearnError):
        return UnexpectedError(outcome)
    return outcome
