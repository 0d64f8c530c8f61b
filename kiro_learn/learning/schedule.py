"""Decides from numbers alone what a project's actor should do about its buffer, and when."""

from __future__ import annotations

import enum
import math

import attrs

from kiro_learn.model.buffer import BufferSize, CircuitBreaker
from kiro_learn.model.settings import ScheduleSettings


class Step(enum.StrEnum):
    """The kinds of step that a project's actor takes."""

    LOOK = "look"
    """Read from the store which events wait and which are parked."""
    SET_ASIDE = "set_aside"
    """Park the oldest half of the buffer."""
    COMPACT = "compact"
    """Let a model make fewer and smaller entries of the oldest entries."""
    LEARN = "learn"
    RETRY = "retry"
    """Commit learned clusters that could not be kept before."""
    TAKE_BACK = "take_back"
    """Let the parked events wait again."""
    RELEARN = "relearn"
    """Learn a batch again that was learned without a model."""
    ANSWER = "answer"
    """Answer a flush that has nothing left to learn."""


@attrs.frozen
class Due:
    """A step and its time on the actor's clock: minus infinity for at once, infinity for not before a change."""

    step: Step
    at: float


_MOST_DOUBLINGS = 16
"""More doublings would make a pause longer than any setting allows, and might overflow."""


def retry_delay_seconds(failure_count: int, *, first_seconds: float, most_seconds: float) -> float:
    """The pause after ``failure_count`` failures in a row: doubled each time, up to ``most_seconds``."""
    if not failure_count:
        return 0.0
    return min(math.ldexp(first_seconds, min(failure_count - 1, _MOST_DOUBLINGS)), most_seconds)


@attrs.frozen(kw_only=True)
class BufferState:
    """A project's buffer as its actor knows it; times on the actor's own clock, in seconds.

    The counts are estimates, since arrivals are reported after their commit. An estimate is never too low. One that is
    too high costs one more read of the store, which is read after each step anyway.
    """

    breaker: CircuitBreaker
    """The learner's circuit breaker."""
    failed_at: float = -math.inf
    """When a run failed last."""
    event_count: int = 0
    size_bytes: int = 0
    parked_event_count: int = 0
    """Events of the buffer that are set aside."""
    parked_cluster_count: int = 0
    retry_at: float = math.inf
    """When the first of the parked clusters is to be tried again."""
    retry_failure_count: int = 0
    """How often in a row a retry of the parked clusters ended with an error. Parking them again is no error."""
    retry_failed_at: float = -math.inf
    arrived_count: int = 0
    """Events that arrived since the actor started."""
    arrived_bytes: int = 0
    last_arrival: float = -math.inf
    is_within_turn: bool = False
    """The last event belongs to a turn that has no answer yet."""
    look_at: float = -math.inf
    """When the store is to be read, before any other step; infinity: it was read."""
    trouble_count: int = 0
    """How often in a row a step ended with an error that its own events did not cause."""
    is_overdue: bool = False
    """The waiting events are the rest of a buffer that was due."""
    suspect_count: int = 0
    """Entries at the buffer's beginning on which a run failed. The next run takes about half of them."""
    lone_bytes: int = 0
    """Size of a buffer that was found to have one entry only, which cannot be halved."""
    compaction_failure_count: int = 0
    """Failed compactions in a row."""
    compaction_failed_at: float = -math.inf
    is_flushed: bool = False
    """A flush waits until nothing is left to learn."""
    has_retried: bool = False
    """The parked clusters have been tried for this flush."""
    relearn_at: float = math.inf
    """Since when a relearning waits for its next batch; infinity while there is none."""

    def with_arrival(
        self, size_bytes: int, *, now: float, event_count: int = 1, is_within_turn: bool = False
    ) -> BufferState:
        """``event_count`` events of ``size_bytes`` together were committed at ``now`` (seconds of trio's clock)."""
        return attrs.evolve(
            self,
            event_count=self.event_count + event_count,
            size_bytes=self.size_bytes + size_bytes,
            arrived_count=self.arrived_count + event_count,
            arrived_bytes=self.arrived_bytes + size_bytes,
            last_arrival=now,
            is_within_turn=is_within_turn,
        )

    def with_flush(self) -> BufferState:
        """A flush was asked for: the store is read first, and parked clusters are tried again."""
        return attrs.evolve(self, is_flushed=True, has_retried=False, look_at=-math.inf)

    def to_be_looked_at(self) -> BufferState:
        """The store is to be read, before anything else."""
        return attrs.evolve(self, look_at=-math.inf)

    def as_found(
        self, size: BufferSize, *, parked_cluster_count: int, retry_at: float, before: BufferState
    ) -> BufferState:
        """The state after a read of the store; ``before`` is the state when the read began.

        Arrivals since then are added, as the read may have missed them.
        """
        return attrs.evolve(
            self,
            event_count=size.event_count + self.arrived_count - before.arrived_count,
            size_bytes=size.size_bytes + self.arrived_bytes - before.arrived_bytes,
            parked_event_count=size.parked_event_count,
            parked_cluster_count=parked_cluster_count,
            retry_at=retry_at,
            look_at=math.inf,
            is_overdue=self.is_overdue and size.event_count > 0,
        )

    def after_run(self, *, was_part: bool, entry_count: int = 0) -> BufferState:
        """The first ``entry_count`` entries were learned; ``was_part``: more entries were due."""
        return attrs.evolve(
            self,
            breaker=self.breaker.after_success(),
            compaction_failure_count=0,
            lone_bytes=0,
            is_overdue=was_part,
            suspect_count=max(0, self.suspect_count - entry_count),
        )

    def after_failed_run(self, now: float, *, suspect_count: int = 0) -> BufferState:
        """A run failed. ``suspect_count`` entries may be the cause; 0: they are not."""
        return attrs.evolve(
            self,
            breaker=self.breaker.after_failure(now),
            failed_at=now,
            suspect_count=suspect_count or self.suspect_count,
        )

    def after_refused_batch(self, entry_count: int, *, is_learner_well: bool) -> BufferState:
        """A run failed because of its first ``entry_count`` entries. Half of them are due at once."""
        breaker = self.breaker.after_success() if is_learner_well else self.breaker
        return attrs.evolve(self, breaker=breaker, suspect_count=entry_count, is_overdue=True)

    def after_retry(self) -> BufferState:
        """The parked clusters were tried and committed; the store is read next."""
        return attrs.evolve(self, retry_failure_count=0, has_retried=True, look_at=-math.inf)

    def after_failed_retry(self, now: float) -> BufferState:
        """The parked clusters were tried at ``now`` (seconds of trio's clock), and that failed."""
        return attrs.evolve(self, retry_failure_count=self.retry_failure_count + 1, retry_failed_at=now)

    def after_trouble(self, now: float, policy: SchedulePolicy) -> BufferState:
        """An error in a step: after a pause the store is read, and until then nothing is done."""
        count = self.trouble_count + 1
        return attrs.evolve(self, trouble_count=count, look_at=now + policy.pause_seconds(count))

    def after_compaction(self) -> BufferState:
        """The buffer was compacted."""
        return attrs.evolve(self, compaction_failure_count=0, suspect_count=0)

    def after_setting_aside(self, entry_count: int) -> BufferState:
        """``entry_count`` entries were parked; 0: the buffer has only one entry."""
        lone_bytes = self.lone_bytes if entry_count else self.size_bytes
        return attrs.evolve(self, lone_bytes=lone_bytes, look_at=-math.inf, suspect_count=0)

    def after_taking_back(self) -> BufferState:
        """The parked events wait again and are due."""
        return attrs.evolve(self, is_overdue=True, look_at=-math.inf, suspect_count=0)

    def after_failed_compaction(self, now: float) -> BufferState:
        """A compaction failed at ``now`` (seconds of trio's clock)."""
        return attrs.evolve(self, compaction_failure_count=self.compaction_failure_count + 1, compaction_failed_at=now)


@attrs.frozen
class SchedulePolicy:
    """Decides which step a project's actor takes next and when, by the settings."""

    settings: ScheduleSettings

    def next_step(self, buffer_state: BufferState) -> Due:
        """The next step, and when. A flush is worked off at once, whatever failed before.

        Between two batches of a relearning, any other step that has become due comes first.
        """
        if buffer_state.look_at < math.inf:
            return Due(Step.LOOK, buffer_state.look_at)
        if buffer_state.size_bytes > self.settings.ceiling_bytes and buffer_state.size_bytes != buffer_state.lone_bytes:
            return Due(Step.SET_ASIDE, -math.inf)
        if buffer_state.is_flushed:
            return Due(_step_of_flush(buffer_state), -math.inf)
        dues = (
            self._compaction(buffer_state),
            self._run(buffer_state),
            self._retry(buffer_state),
            self._return(buffer_state),
            Due(Step.RELEARN, buffer_state.relearn_at),
        )
        return min(dues, key=lambda due: due.at)

    def _run(self, buffer_state: BufferState) -> Due:
        """Due when enough events wait, or when none has come for a while; later if learning pauses."""
        if buffer_state.event_count == 0:
            return Due(Step.LEARN, math.inf)
        is_due = buffer_state.is_overdue or buffer_state.size_bytes >= self.settings.extraction_bytes
        settings = self.settings
        idle_seconds = settings.turn_idle_seconds if buffer_state.is_within_turn else settings.buffer_idle_seconds
        wanted = -math.inf if is_due else buffer_state.last_arrival + idle_seconds
        return Due(Step.LEARN, max(wanted, self._paused_until(buffer_state)))

    def _retry(self, buffer_state: BufferState) -> Due:
        failures = buffer_state.retry_failure_count
        paused_until = buffer_state.retry_failed_at + self.pause_seconds(failures) if failures else -math.inf
        return Due(Step.RETRY, max(buffer_state.retry_at, paused_until))

    def _return(self, buffer_state: BufferState) -> Due:
        """Due when no other event waits and the learner is well."""
        is_wanted = buffer_state.parked_event_count and not buffer_state.event_count
        return Due(Step.TAKE_BACK, self._paused_until(buffer_state) if is_wanted else math.inf)

    def _compaction(self, buffer_state: BufferState) -> Due:
        """Due when a large buffer is not being learned. A working learner empties it better than a summary would."""
        failures = buffer_state.compaction_failure_count
        if not (
            self.settings.compacts
            and buffer_state.breaker.failure_count
            and buffer_state.size_bytes > self.settings.compaction_bytes
            and buffer_state.size_bytes != buffer_state.lone_bytes
        ):
            return Due(Step.COMPACT, math.inf)
        if failures >= self.settings.compaction_failures:
            return Due(Step.SET_ASIDE, -math.inf)
        return Due(
            Step.COMPACT, buffer_state.compaction_failed_at + self.pause_seconds(failures) if failures else -math.inf
        )

    def _paused_until(self, buffer_state: BufferState) -> float:
        """The time until which learning pauses: after each failure longer, and while the breaker is open.

        No pause is longer than the breaker's cool-down, so an open breaker's probe is never late.
        """
        failures = buffer_state.breaker.failure_count
        if not failures:
            return -math.inf
        return max(buffer_state.failed_at + self.pause_seconds(failures), buffer_state.breaker.probe_at())

    def pause_seconds(self, failure_count: int) -> float:
        """The pause before the next attempt, after ``failure_count`` failures in a row."""
        return retry_delay_seconds(
            failure_count,
            first_seconds=self.settings.retry_seconds,
            most_seconds=self.settings.cooldown_seconds,
        )


def _step_of_flush(buffer_state: BufferState) -> Step:
    if buffer_state.event_count:
        return Step.LEARN
    if buffer_state.parked_cluster_count and not buffer_state.has_retried:
        return Step.RETRY
    return Step.TAKE_BACK if buffer_state.parked_event_count else Step.ANSWER
