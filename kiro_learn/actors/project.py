"""One project: its buffer's count, its timers, its breaker, its runs. One project's trouble never reaches another."""

from __future__ import annotations

import math

import attrs
import trio

from kiro_learn.actors.learning_run import Learned, Learner
from kiro_learn.actors.llm_switch import TOO_SLOW
from kiro_learn.actors.mailbox import Reply
from kiro_learn.breaker import BreakerState, CircuitBreaker
from kiro_learn.config import LearningConfig
from kiro_learn.errors import ActorStopped, DependencyError, KiroLearnError, LlmError
from kiro_learn.learning.reconciliation.judge_breaker import JudgeBreaker
from kiro_learn.learning.schedule import Waiting, due_at
from kiro_learn.model.buffer import BufferSize, BufferSnapshot
from kiro_learn.model.namespace import Namespace
from kiro_learn.storage.interface import StorageBackend


@attrs.frozen
class Flushed:
    """What a flush learned."""

    event_count: int = 0
    record_count: int = 0


@attrs.frozen
class ProjectStatistics:
    """A project's learning, as of now."""

    namespace: Namespace
    waiting_event_count: int
    waiting_bytes: int
    breaker: BreakerState
    failure_count: int
    """Failed runs in a row."""
    is_learning: bool
    problem: str | None
    """Why the last run failed, or None."""


class ProjectActor:
    """Decides when its project's events are learned, and has them learned, one run at a time."""

    def __init__(
        self,
        namespace: Namespace,
        waiting: BufferSize,
        *,
        storage: StorageBackend,
        learner: Learner,
        run_slots: trio.CapacityLimiter,
        config: LearningConfig,
    ) -> None:
        self.name = f"project {namespace}"
        self._namespace = namespace
        self._storage = storage
        self._learner = learner
        self._run_slots = run_slots
        self._config = config
        self._waiting = Waiting(
            event_count=waiting.event_count, size_bytes=waiting.size_bytes, last_arrival=trio.current_time()
        )
        self._breaker = CircuitBreaker(
            failure_threshold=config.breaker_failures, cooldown_seconds=config.breaker_cooldown_seconds
        )
        self._judge_breaker = JudgeBreaker()
        self._failed_at = -math.inf
        self._problem: str | None = None
        self._flushes: list[Reply[Flushed]] = []
        self._flushed = Flushed()
        self._is_learning = False
        self._changed = trio.Event()
        self._stopping = False

    def event_arrived(self, size_bytes: int) -> None:
        """An event of ``size_bytes`` was committed to the buffer."""
        self._change(self._waiting.with_arrival(size_bytes, now=trio.current_time()))

    async def flush(self) -> Flushed:
        """Learn until nothing waits, whatever the timers and the breaker say; answers what that took.

        Raises:
          DependencyError: a run failed; what it could not learn still waits.
          ActorStopped: the daemon is going down.
        """
        reply: Reply[Flushed] = Reply(self.name)
        if self._stopping:
            raise ActorStopped(self.name)
        self._flushes.append(reply)
        self._change(attrs.evolve(self._waiting, is_flushed=True))
        return await reply.wait()

    def statistics(self) -> ProjectStatistics:
        return ProjectStatistics(
            namespace=self._namespace,
            waiting_event_count=self._waiting.event_count,
            waiting_bytes=self._waiting.size_bytes,
            breaker=self._breaker.state(trio.current_time()),
            failure_count=self._breaker.failure_count,
            is_learning=self._is_learning,
            problem=self._problem,
        )

    @property
    def is_retired(self) -> bool:
        """True once it takes nothing more, because nothing came for long or the daemon is going down."""
        return self._stopping

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        while await self._wait_until_due():
            async with self._run_slots:
                self._is_learning = True
                try:
                    await self._learn()
                finally:
                    self._is_learning = False

    def stop(self) -> None:
        """Finish the run under way, if any. What waits is in the store, and is learned by the next daemon."""
        self._stopping = True
        self._changed.set()

    def abandon(self) -> None:
        self._stopping = True
        self._answer_flushes(ActorStopped(self.name))

    def _change(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._changed.set()

    async def _wait_until_due(self) -> bool:
        """Return True when a run is due, False when there will be none any more."""
        while not self._stopping:
            now = trio.current_time()
            due = due_at(
                self._waiting,
                self._breaker,
                failed_at=self._failed_at,
                idle_seconds=self._config.buffer_idle_seconds,
                threshold_bytes=self._config.extraction_bytes,
                retry_seconds=self._config.retry_seconds,
            )
            if due <= now:
                return True
            self._changed = trio.Event()
            retire_at = now + self._config.project_idle_seconds if due == math.inf else math.inf
            with trio.move_on_at(min(due, retire_at)):
                await self._changed.wait()
            if not self._changed.is_set() and due == math.inf:
                self._stopping = True
        return False

    async def _learn(self) -> None:
        snapshot = await self._storage.snapshot_buffer(self._namespace, most_bytes=self._config.extraction_bytes)
        if not snapshot.events:
            # The store is the authority: the count here was only ever a hint.
            self._change(attrs.evolve(self._waiting, event_count=0, size_bytes=0))
            self._answer_flushes(None)
            return
        try:
            learned = await self._learner.learn(self._namespace, snapshot, self._judge_breaker)
        except (DependencyError, trio.TooSlowError) as error:
            await self._after_failure(snapshot, error)
        else:
            self._after_success(snapshot, learned)

    def _after_success(self, snapshot: BufferSnapshot, learned: Learned) -> None:
        self._breaker = self._breaker.after_success()
        self._judge_breaker = learned.judge_breaker
        self._problem = None
        if self._flushes:
            self._flushed = Flushed(
                self._flushed.event_count + learned.event_count, self._flushed.record_count + learned.record_count
            )
        self._change(self._waiting.without(len(snapshot.events), snapshot.size_bytes))

    async def _after_failure(self, snapshot: BufferSnapshot, error: DependencyError | trio.TooSlowError) -> None:
        self._failed_at = trio.current_time()
        self._breaker = self._breaker.after_failure(self._failed_at)
        known = error if isinstance(error, DependencyError) else LlmError(TOO_SLOW)
        self._problem = str(known)
        self._answer_flushes(known)
        await self._learner.note_failure(self._namespace, snapshot, problem=self._problem)

    def _answer_flushes(self, error: KiroLearnError | None) -> None:
        replies, self._flushes = self._flushes, []
        flushed, self._flushed = self._flushed, Flushed()
        self._waiting = attrs.evolve(self._waiting, is_flushed=False)
        for reply in replies:
            if error is None:
                reply.answer(flushed)
            else:
                reply.refuse(error)
