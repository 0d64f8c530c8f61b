"""One project: its buffer, its timers, its breakers, its runs. A failure in one project never affects another."""

from __future__ import annotations

import math
from collections import deque
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.relearning import Relearned, Relearning
from kiro_learn.config import CompactionConfig, LearningConfig
from kiro_learn.errors import (
    ActorStopped,
    BatchRefused,
    KiroLearnError,
    LlmError,
    StorageError,
    UnexpectedError,
)
from kiro_learn.learning.extraction.splitting import half_count, part_to_try
from kiro_learn.learning.reconciliation.judge_breaker import JudgeBreaker
from kiro_learn.learning.schedule import BufferState, SchedulePolicy, Step
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.circuit_breaker import BreakerState, CircuitBreaker
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.compaction import Compactor
from kiro_learn.pipelines.learn.learning_run import Learned, Learner
from kiro_learn.pipelines.learn.outcome import outcome_of
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.buffer import BufferReads
from kiro_learn.runtime.mailbox import Reply

log = structlog.get_logger()


@attrs.frozen
class Flushed:
    """What a flush learned."""

    event_count: int = 0
    record_count: int = 0

    def with_run(self, learned: Learned) -> Flushed:
        return Flushed(self.event_count + learned.event_count, self.record_count + learned.record_count)


@attrs.frozen(kw_only=True)
class ProjectStatistics:
    """The present state of a project's learning."""

    namespace: Namespace
    waiting_event_count: int
    waiting_bytes: int
    parked_event_count: int
    """Set aside until the learner works again."""
    parked_cluster_count: int
    """Learned, but not kept yet; tried again until it is."""
    breaker: BreakerState
    """Of the learner: open while learning pauses."""
    failure_count: int
    """Failed runs in a row."""
    judge_breaker: BreakerState
    """Of the judge: while it is open, what is learned is kept as it is."""
    is_learning: bool
    relearning_event_count: int
    """Events that a ``relearn`` request has still to have learned again by a model."""
    refused_event_count: int
    """Learned by the built-in learner, since the model had no usable answer to them; since the actor started."""
    refusal: str | None
    """Why it had none to the last of these."""
    problem: str | None
    """What failed last, or None since something was learned."""


@attrs.frozen(eq=False, kw_only=True)
class ProjectDependencies:
    """What every project's actor needs: ports, pipelines, settings."""

    storage: BufferReads
    learner: Learner
    compactor: Compactor
    run_slots: trio.CapacityLimiter
    clock: ClockAndIds
    learning: LearningConfig
    compaction: CompactionConfig


class ProjectActor:
    """Learns a project's events: decides which step is due, then runs it, one step at a time.

    So a run, a compaction and setting events aside never overlap: each finds the buffer as the last one left it.
    """

    def __init__(self, namespace: Namespace, dependencies: ProjectDependencies) -> None:
        self.name = f"project {namespace}"
        self._namespace = namespace
        self._dependencies = dependencies
        self._policy = SchedulePolicy(dependencies.learning, dependencies.compaction)
        self._buffer_state = BufferState(
            breaker=CircuitBreaker(
                failure_threshold=dependencies.learning.breaker_failures,
                cooldown_seconds=dependencies.learning.breaker_cooldown_seconds,
            ),
            last_arrival=trio.current_time(),
        )
        self._judge_breaker = JudgeBreaker()
        self._problem: str | None = None
        self._refused_event_count = 0
        self._refusal: str | None = None
        self._flushes: list[Reply[Flushed]] = []
        self._flushed = Flushed()
        self._relearnings: deque[Relearning] = deque()
        self._is_learning = False
        self._is_over_ceiling = False
        self._changed = trio.Event()
        self._sleeps_until = -math.inf
        self._stopping = False

    def events_arrived(self, event_count: int, size_bytes: int) -> None:
        """Events of ``size_bytes`` together were committed to the buffer.

        Most make nothing due earlier: then the actor sleeps on, and sees at the end of its sleep what came.
        """
        self._buffer_state = self._buffer_state.with_arrival(
            size_bytes, now=trio.current_time(), event_count=event_count
        )
        if self._policy.next_step(self._buffer_state).at < self._sleeps_until:
            self._changed.set()

    async def flush(self) -> Flushed:
        """Learn until nothing waits and nothing is parked that can be learned; answers what that took.

        The timers and the breaker are not heeded; what is parked is tried once.

        Raises:
          DependencyError: a run failed; what it could not learn still waits.
          ActorStopped: the daemon is going down.
        """
        reply: Reply[Flushed] = Reply(self.name)
        if self._stopping:
            raise ActorStopped(self.name)
        self._flushes.append(reply)
        self._buffer_state = self._buffer_state.with_flush()
        self._changed.set()
        return await reply.wait()

    async def relearn(self, relearning: Relearning) -> Relearned:
        """Carry ``relearning`` out, a batch at a time, with whatever is due in between; answers how far it came.

        Raises:
          ActorStopped: the daemon is going down; what was done is done.
        """
        if self._stopping:
            raise ActorStopped(self.name)
        self._relearnings.append(relearning)
        self._buffer_state = attrs.evolve(self._buffer_state, relearn_at=trio.current_time())
        self._changed.set()
        return await relearning.reply.wait()

    def statistics(self) -> ProjectStatistics:
        buffer_state = self._buffer_state
        return ProjectStatistics(
            namespace=self._namespace,
            waiting_event_count=buffer_state.event_count,
            waiting_bytes=buffer_state.size_bytes,
            parked_event_count=buffer_state.parked_event_count,
            parked_cluster_count=buffer_state.parked_cluster_count,
            breaker=buffer_state.breaker.state(trio.current_time()),
            failure_count=buffer_state.breaker.failure_count,
            judge_breaker=BreakerState.OPEN if self._judge_breaker.is_open else BreakerState.CLOSED,
            is_learning=self._is_learning,
            relearning_event_count=sum(each.event_count for each in self._relearnings),
            refused_event_count=self._refused_event_count,
            refusal=self._refusal,
            problem=self._problem,
        )

    @property
    def is_retired(self) -> bool:
        """True once it takes nothing more, because nothing came for long or the daemon is going down."""
        return self._stopping

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._buffer_state = self._buffer_state.to_be_looked_at()
        task_status.started()
        while (step := await self._wait_for_step()) is not None:
            error = await outcome_of(self.name, partial(self._take, step))
            if error is not None:
                self._after_trouble(step, error)
            elif step is not Step.LOOK:
                self._buffer_state = attrs.evolve(self._buffer_state, trouble_count=0)

    def stop(self) -> None:
        """Finish the run under way, if any. What waits is in the store, and is learned by the next daemon."""
        self._stopping = True
        self._changed.set()

    def note_end(self, error: Exception) -> None:
        """It ended by ``error``, which its statistics show until another actor takes its place."""
        self._problem = str(error if isinstance(error, KiroLearnError) else UnexpectedError(error))

    def abandon(self) -> None:
        self._stopping = True
        self._answer_flushes(ActorStopped(self.name))
        while self._relearnings:
            self._relearnings.popleft().refuse()

    async def _wait_for_step(self) -> Step | None:
        """The next step, once it is due; None when there will be none any more."""
        while not self._stopping:
            now = trio.current_time()
            due = self._policy.next_step(self._buffer_state)
            if due.at <= now:
                return due.step
            self._changed, self._sleeps_until = trio.Event(), due.at
            retire_at = now + self._dependencies.learning.project_idle_seconds if due.at == math.inf else math.inf
            with trio.move_on_at(min(due.at, retire_at)):
                await self._changed.wait()
            if not self._changed.is_set() and due.at == math.inf:
                self._stopping = True
        return None

    async def _take(self, step: Step) -> None:
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
        """What asks a model holds a run slot from its beginning to its end."""
        async with self._dependencies.run_slots:
            self._is_learning = True
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
                self._is_learning = False

    async def _look(self) -> None:
        """Read what waits and what is parked: the store is the authority, the counts here are only ever hints."""
        before = self._buffer_state
        size = await self._dependencies.storage.get_buffer_size(self._namespace)
        clusters = await self._dependencies.storage.list_parked_clusters(self._namespace)
        utc_now, now = self._dependencies.clock.utc_now(), trio.current_time()
        retry_at = min((now + (cluster.retry_at - utc_now).total_seconds() for cluster in clusters), default=math.inf)
        self._buffer_state = self._buffer_state.as_found(
            size,
            parked_cluster_count=len(clusters),
            retry_at=retry_at,
            before=before,
        )
        self._is_over_ceiling &= self._buffer_state.size_bytes > self._dependencies.compaction.ceiling_bytes

    async def _learn(self) -> None:
        snapshot = await self._dependencies.storage.snapshot_buffer(
            self._namespace, most_bytes=self._dependencies.learning.extraction_bytes
        )
        if snapshot.entries:
            part = part_to_try(snapshot, self._buffer_state.suspect_count)
            learn = partial(self._dependencies.learner.learn, self._namespace, part, self._judge_breaker)
            learned = await outcome_of(self.name, learn)
            if isinstance(learned, KiroLearnError):
                await self._after_failed_run(snapshot, part, learned)
            else:
                self._after_run(snapshot, learned)
        elif snapshot.damaged_through:
            await self._dependencies.learner.pass_over(self._namespace, through=snapshot.damaged_through)
        self._buffer_state = self._buffer_state.to_be_looked_at()

    def _after_run(self, snapshot: BufferSnapshot, learned: Learned) -> None:
        self._keep(learned)
        was_part = learned.event_count < snapshot.event_count
        self._buffer_state = self._buffer_state.after_run(was_part=was_part, entry_count=learned.entry_count)
        self._problem = None
        if learned.refusal is not None:
            self._refused_event_count += learned.event_count
            self._refusal = str(learned.refusal)

    async def _retry(self) -> None:
        """Try the parked clusters again: those whose time has come, or all if a flush waits."""
        self._keep(
            await self._dependencies.learner.retry_parked(
                self._namespace, self._judge_breaker, all_of_them=self._buffer_state.is_flushed
            )
        )
        self._buffer_state = self._buffer_state.after_retry()

    async def _relearn(self) -> None:
        """One batch; however it ends, what is over by then is off the list."""
        relearning = self._relearnings[0]
        try:
            self._judge_breaker = await relearning.go_on(self._judge_breaker)
        finally:
            if relearning.is_over:
                self._relearnings.popleft()
            relearn_at = trio.current_time() if self._relearnings else math.inf
            self._buffer_state = attrs.evolve(self._buffer_state, relearn_at=relearn_at)

    async def _compact(self) -> None:
        try:
            has_model = await self._dependencies.compactor.compact(self._namespace)
        except LlmError as error:
            self._buffer_state = self._buffer_state.after_failed_compaction(trio.current_time())
            self._problem = str(error)
            log.warning("compaction.failed", count=self._buffer_state.compaction_failure_count, problem=str(error))
        else:
            self._buffer_state = self._buffer_state.after_compaction()
            if not has_model:
                await self._set_aside()
        self._buffer_state = self._buffer_state.to_be_looked_at()

    async def _set_aside(self) -> None:
        size_bytes = self._buffer_state.size_bytes
        entry_count = await self._dependencies.compactor.set_aside_oldest_half(self._namespace, size_bytes)
        self._buffer_state = self._buffer_state.after_setting_aside(entry_count)
        is_news = size_bytes > self._dependencies.compaction.ceiling_bytes and not self._is_over_ceiling
        self._is_over_ceiling |= is_news
        report = log.warning if is_news else log.info
        report("buffer.set_aside", entry_count=entry_count, size_bytes=size_bytes)

    async def _take_back(self) -> None:
        most_bytes = min(self._dependencies.learning.extraction_bytes, self._dependencies.compaction.ceiling_bytes)
        await self._dependencies.compactor.take_back(self._namespace, most_bytes=most_bytes)
        self._buffer_state = self._buffer_state.after_taking_back()

    def _keep(self, learned: Learned) -> None:
        self._judge_breaker = learned.judge_breaker
        if self._flushes:
            self._flushed = self._flushed.with_run(learned)

    async def _after_failed_run(self, snapshot: BufferSnapshot, part: BufferSnapshot, error: KiroLearnError) -> None:
        """``part``, the beginning of ``snapshot``, was not learned; the next run takes about half of it.

        It does so at once if the learner works or the error was unexpected. A turn that fails alone is set aside,
        unless the learner is known to fail, so that later events do not wait for it.
        """
        self._problem = str(error)
        buffer_state, is_one_turn = self._buffer_state, not half_count(part.events)
        if isinstance(error, BatchRefused) and not is_one_turn:
            self._buffer_state = buffer_state.after_refused_batch(error.entry_count, is_learner_well=True)
        elif isinstance(error, UnexpectedError) and not (is_one_turn or buffer_state.breaker.is_open):
            self._buffer_state = buffer_state.after_refused_batch(len(part.entries), is_learner_well=False)
        else:
            is_sick = isinstance(error, StorageError) or self._dependencies.learner.is_model_failing(self._namespace)
            # Once the breaker is open, a run only probes the model, and does not come to the entries.
            suspect_count = 0 if is_sick and buffer_state.breaker.is_open else len(part.entries)
            self._buffer_state = buffer_state.after_failed_run(trio.current_time(), suspect_count=suspect_count)
            self._answer_flushes(error)
            if is_one_turn and not is_sick and len(part.entries) < len(snapshot.entries):
                await self._dependencies.compactor.set_aside(self._namespace, part)
                self._buffer_state = self._buffer_state.after_setting_aside(len(part.entries))
        await self._dependencies.learner.note_failure(self._namespace, part, problem=self._problem)

    def _after_trouble(self, step: Step, error: KiroLearnError) -> None:
        """``step`` was ended by an error that it has no handling for; it is taken again after a pause."""
        now = trio.current_time()
        self._problem = str(error)
        if step is Step.RETRY:
            self._buffer_state = self._buffer_state.after_failed_retry(now)
        elif step is Step.COMPACT and not isinstance(error, StorageError):
            self._buffer_state = self._buffer_state.after_failed_compaction(now)
        else:
            self._buffer_state = self._buffer_state.after_trouble(now, self._policy)
        self._answer_flushes(error)
        log.warning("project.step_failed", step=step, problem=self._problem)

    def _answer_flushes(self, error: KiroLearnError | None) -> None:
        replies, self._flushes = self._flushes, []
        flushed, self._flushed = self._flushed, Flushed()
        self._buffer_state = attrs.evolve(self._buffer_state, is_flushed=False)
        for reply in replies:
            if error is None:
                reply.answer(flushed)
            else:
                reply.refuse(error)
