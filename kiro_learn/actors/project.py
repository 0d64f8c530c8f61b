"""One project: its buffer, its timers, its breakers, its runs. A failure in one project never affects another."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.project_work import Flushed, ProjectDependencies, ProjectWork, outcome_of
from kiro_learn.actors.relearning import Relearned, Relearning
from kiro_learn.errors import ActorStopped, KiroLearnError, UnexpectedError
from kiro_learn.learning.schedule import SchedulePolicy, Step
from kiro_learn.model.buffer import BreakerState
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.events import BufferReads
from kiro_learn.runtime.supervisor import Reply, catch_errors, run_to_the_end

log = structlog.get_logger()


@attrs.frozen(kw_only=True)
class ProjectStatistics:
    """The present state of a project's learning."""

    namespace: Namespace
    waiting_event_count: int
    waiting_bytes: int
    parked_event_count: int
    """Events that are set aside until the learner works again."""
    parked_cluster_count: int
    """Clusters that are learned, but not committed yet; the commit is tried again until it succeeds."""
    breaker: BreakerState
    """The learner's breaker: open while learning pauses."""
    failure_count: int
    """Failed runs in a row."""
    judge_breaker: BreakerState
    """The judge's breaker: while it is open, new records are committed without being compared."""
    is_learning: bool
    relearning_event_count: int
    """Events that ``relearn`` requests still have to learn again."""
    refused_event_count: int
    """Events since the actor started that the built-in learner learned, as the model had no usable answer to them."""
    refusal: str | None
    """Why the model had no usable answer to the last of these events."""
    problem: str | None
    """The last failure; None once a run has succeeded since."""


class ProjectActor:
    """Learns a project's events: decides which step is due, then runs it, one step at a time.

    So a run, a compaction and setting events aside never overlap: each finds the buffer as the last one left it.
    """

    def __init__(self, namespace: Namespace, dependencies: ProjectDependencies) -> None:
        self.name = f"project {namespace}"
        self._namespace = namespace
        self._dependencies = dependencies
        self._policy = SchedulePolicy(dependencies.schedule)
        self._work = ProjectWork(namespace, dependencies)
        self._changed = trio.Event()
        self._sleeps_until = -math.inf
        self._stopping = False

    def events_arrived(self, event_count: int, size_bytes: int, *, is_within_turn: bool) -> None:
        """Note events of ``size_bytes`` together that were committed to the buffer; the last turn may lack an answer.

        Wakes the actor only if a step is now due earlier than the end of its sleep; most arrivals change nothing.
        """
        self._work.buffer_state = self._work.buffer_state.with_arrival(
            size_bytes, now=trio.current_time(), event_count=event_count, is_within_turn=is_within_turn
        )
        if self._policy.next_step(self._work.buffer_state).at < self._sleeps_until:
            self._changed.set()

    def look(self) -> None:
        """Read the buffer before the next step."""
        self._work.buffer_state = self._work.buffer_state.to_be_looked_at()
        self._changed.set()

    async def flush(self) -> Flushed:
        """Learn until the buffer is empty; returns how much was learned.

        Ignores the timers and the breaker; parked events and clusters are tried once.

        Raises:
          DependencyError: a run failed; what it could not learn stays in the buffer.
          ActorStopped: the daemon is stopping.
        """
        reply: Reply[Flushed] = Reply(self.name)
        if self._stopping:
            raise ActorStopped(self.name)
        self._work.flushes.add(reply)
        self._work.buffer_state = self._work.buffer_state.with_flush()
        self._changed.set()
        return await reply.wait()

    async def relearn(self, relearning: Relearning) -> Relearned:
        """Carry out ``relearning``, a batch at a time, with due steps in between; returns how far it came.

        Raises:
          ActorStopped: the daemon is stopping; finished batches stay.
        """
        if self._stopping:
            raise ActorStopped(self.name)
        self._work.relearnings.append(relearning)
        self._work.buffer_state = attrs.evolve(self._work.buffer_state, relearn_at=trio.current_time())
        self._changed.set()
        return await relearning.reply.wait()

    def statistics(self) -> ProjectStatistics:
        buffer_state = self._work.buffer_state
        return ProjectStatistics(
            namespace=self._namespace,
            waiting_event_count=buffer_state.event_count,
            waiting_bytes=buffer_state.size_bytes,
            parked_event_count=buffer_state.parked_event_count,
            parked_cluster_count=buffer_state.parked_cluster_count,
            breaker=buffer_state.breaker.state(trio.current_time()),
            failure_count=buffer_state.breaker.failure_count,
            judge_breaker=BreakerState.OPEN if self._work.judge_breaker.is_open else BreakerState.CLOSED,
            is_learning=self._work.is_learning,
            relearning_event_count=sum(each.event_count for each in self._work.relearnings),
            refused_event_count=self._work.refused_event_count,
            refusal=self._work.refusal,
            problem=self._work.problem,
        )

    @property
    def is_retired(self) -> bool:
        """True once it takes no more work: it was idle for too long, or the daemon is stopping."""
        return self._stopping

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._work.buffer_state = self._work.buffer_state.to_be_looked_at()
        task_status.started()
        while (step := await self._wait_for_step()) is not None:
            error = await outcome_of(self.name, partial(self._work.take, step))
            if error is not None:
                self._work.after_trouble(step, error)
            elif step is not Step.LOOK:
                self._work.buffer_state = attrs.evolve(self._work.buffer_state, trouble_count=0)

    def stop(self) -> None:
        """Finish the run under way, if any. The next daemon learns the events that are still in the buffer."""
        self._stopping = True
        self._changed.set()

    def note_end(self, error: Exception) -> None:
        """Show ``error``, which ended the actor, in its statistics until another actor takes its place."""
        self._work.problem = str(error if isinstance(error, KiroLearnError) else UnexpectedError(error))

    def abandon(self) -> None:
        self._stopping = True
        self._work.flushes.answer(ActorStopped(self.name))
        while self._work.relearnings:
            self._work.relearnings.popleft().refuse()

    async def _wait_for_step(self) -> Step | None:
        """The next step, once it is due; None once the actor is retired."""
        while not self._stopping:
            now = trio.current_time()
            due = self._policy.next_step(self._work.buffer_state)
            if due.at <= now:
                return due.step
            self._changed, self._sleeps_until = trio.Event(), due.at
            retire_at = now + self._dependencies.idle_seconds if due.at == math.inf else math.inf
            with trio.move_on_at(min(due.at, retire_at)):
                await self._changed.wait()
            if not self._changed.is_set() and due.at == math.inf:
                self._stopping = True
        return None


# Finds the actor of a project, and starts it if there is something for it to do.

NewProject = Callable[[Namespace], ProjectActor]


class Projects:
    """Runs the project actors, each supervised on its own, so that one that fails does not affect the others.

    A failed actor stays in the statistics, with its problem, until the next event of its project starts another.
    """

    name = "projects"

    def __init__(self, storage: BufferReads, new_project: NewProject) -> None:
        self._storage = storage
        self._new_project = new_project
        self._actors: dict[Namespace, ProjectActor] = {}
        self._nursery: trio.Nursery | None = None
        self._stopped = trio.Event()

    def events_arrived(
        self, namespace: Namespace, event_count: int, size_bytes: int, *, is_within_turn: bool = False
    ) -> None:
        """Note events that were committed to a project's buffer; ``is_within_turn``: the last turn lacks an answer.

        Does nothing before ``run`` has read the buffers, since ``run`` finds the events there. Does nothing either
        while the daemon stops: the next one learns them.
        """
        actor = self._running_actor(namespace)
        if self._stopped.is_set() or self._nursery is None:
            return
        (actor or self._start(namespace)).events_arrived(event_count, size_bytes, is_within_turn=is_within_turn)

    def look(self, namespace: Namespace) -> None:
        """Let a project's actor read its buffer anew, because entries came to it that were not announced."""
        actor = self._running_actor(namespace)
        if self._stopped.is_set() or self._nursery is None:
            return
        (actor or self._start(namespace)).look()

    async def flush(self, namespace: Namespace) -> Flushed:
        """See ``ProjectActor.flush``."""
        actor = self._running_actor(namespace) or self._start(namespace)
        return await actor.flush()

    async def relearn(self, namespace: Namespace, relearning: Relearning) -> Relearned:
        """See ``ProjectActor.relearn``."""
        actor = self._running_actor(namespace) or self._start(namespace)
        return await actor.relearn(relearning)

    def statistics(self) -> list[ProjectStatistics]:
        return [actor.statistics() for actor in self._actors.values()]

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._nursery = None  # the nursery of an earlier run is closed
        buffers = await self._storage.list_buffers()
        clusters = await self._storage.list_parked_clusters(None)
        self._actors.clear()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for namespace in dict.fromkeys((*buffers, *(cluster.namespace for cluster in clusters))):
                self._start(namespace)
            task_status.started()
            await self._stopped.wait()
            for actor in self._actors.values():
                actor.stop()

    def stop(self) -> None:
        self._stopped.set()

    abandon = stop  # no caller waits for an answer

    def _running_actor(self, namespace: Namespace) -> ProjectActor | None:
        actor = self._actors.get(namespace)
        return None if actor is None or actor.is_retired else actor

    def _start(self, namespace: Namespace) -> ProjectActor:
        if self._nursery is None or self._stopped.is_set():
            raise ActorStopped(self.name)
        actor = self._actors[namespace] = self._new_project(namespace)
        self._nursery.start_soon(self._run_actor, namespace, actor)
        return actor

    async def _run_actor(self, namespace: Namespace, actor: ProjectActor) -> None:
        outcome = await catch_errors(actor.name, lambda: run_to_the_end(actor))
        if outcome is not None:
            actor.note_end(outcome)
        elif self._actors.get(namespace) is actor:
            del self._actors[namespace]
