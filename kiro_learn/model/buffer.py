"""The events that wait to be learned, the result of a learning run, and learned records that could not be kept yet."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime

import attrs

from kiro_learn.model.event import NAMESPACE, Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord


@attrs.frozen
class BufferedEvent:
    """One entry of a project's buffer: an event, or the compaction of several."""

    event: Event
    """For a compaction: an event made here, of kind session_summary, with the model's text, whose id is stored nowhere
    else."""
    position: int
    """The entry's place in the buffer; later entries have higher positions."""
    size_bytes: int
    stands_for: tuple[EventId, ...] = ()
    """For a compaction: the events that it was made of, oldest first; empty for an event that stands for itself."""

    @property
    def sources(self) -> tuple[EventId, ...]:
        """Ids of the stored events that a record cites when it is learned from this entry."""
        return self.stands_for or (self.event.event_id,)


@attrs.frozen
class BufferSnapshot:
    """The events that waited when it was taken, oldest first, and the last prompts before them in the same sessions."""

    entries: tuple[BufferedEvent, ...] = ()
    earlier_prompts: tuple[Event, ...] = ()
    """The last few prompts of each session in ``entries``, in order of arrival. They came before the session's first
    event there, and after its last session_summary before that, so they had no final answer yet. A compaction belongs
    to the session of its own event, and begins with the first event that it stands for."""
    damaged_through: int = 0
    """If there are no entries: the position of the last waiting event that cannot be read; 0 if none waits."""

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(entry.event for entry in self.entries)

    @property
    def through(self) -> int:
        """Position of the last entry; 0 when there is none."""
        return self.entries[-1].position if self.entries else 0

    @property
    def size_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.entries)

    @property
    def event_count(self) -> int:
        """How many stored events the entries stand for, as BufferSize counts them."""
        return sum(len(entry.sources) for entry in self.entries)

    @property
    def source_event_ids(self) -> tuple[EventId, ...]:
        """Every stored event that the entries stand for, oldest first, each once."""
        return tuple(dict.fromkeys(event_id for entry in self.entries for event_id in entry.sources))

    @property
    def by_source(self) -> dict[EventId, Event]:
        """For each stored event that the entries stand for: the event of its entry."""
        return {event_id: entry.event for entry in self.entries for event_id in entry.sources}

    def first(self, count: int) -> BufferSnapshot:
        """A snapshot of the oldest ``count`` entries, as if no more had fitted."""
        entries = self.entries[:count]
        sessions = {entry.event.session_id for entry in entries}
        earlier = tuple(prompt for prompt in self.earlier_prompts if prompt.session_id in sessions)
        return BufferSnapshot(entries, earlier)


@attrs.frozen
class BufferSize:
    """How much waits for learning, and how much was set aside until the learner works again.

    A compaction counts as the events that it stands for.
    """

    event_count: int = 0
    size_bytes: int = 0
    parked_event_count: int = 0
    """How many events were set aside; they are learned once nothing else waits."""

    @staticmethod
    def total(sizes: Iterable[BufferSize]) -> BufferSize:
        all_sizes = tuple(sizes)
        return BufferSize(
            sum(size.event_count for size in all_sizes),
            sum(size.size_bytes for size in all_sizes),
            sum(size.parked_event_count for size in all_sizes),
        )


@attrs.frozen(kw_only=True)
class ParkedCluster:
    """Candidates that describe one thing and could not be committed; tried again until they are, never dropped."""

    cluster_id: str
    """A ULID; it stays the same from one attempt to the next."""
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    records: tuple[MemoryRecord, ...]
    """The records as they would have been kept, without their vectors; no search sees them."""
    problem: str
    """Why the last attempt failed."""
    attempt_count: int
    retry_at: datetime


@attrs.frozen
class LearningRun:
    """One pass over a project's waiting events, as it is stored and listed."""

    run_id: str
    namespace: Namespace
    strategy: str
    started_at: datetime
    finished_at: datetime
    event_count: int
    record_count: int
    problem: str | None
    """Why the run learned nothing, or not all that it could have; None if it had no problem."""


# A circuit breaker as a value: time comes in as a number, and every step returns the next value.


class BreakerState(enum.StrEnum):
    """The three states of a circuit breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@attrs.frozen(kw_only=True)
class CircuitBreaker:
    """A breaker: open after ``failure_threshold`` failures in a row; half open after the cooldown, for one probe.

    Nygard, Release It!, 2007. A probe's failure opens it again for a whole cooldown; any success closes it.
    """

    failure_threshold: int
    cooldown_seconds: float
    failure_count: int = 0
    opened_at: float | None = None
    """On the caller's clock, in seconds."""

    @property
    def is_open(self) -> bool:
        """Whether it is open or half open: too many calls failed, and none has succeeded since."""
        return self.opened_at is not None

    def state(self, now: float) -> BreakerState:
        if not self.is_open:
            return BreakerState.CLOSED
        return BreakerState.HALF_OPEN if now >= self.probe_at() else BreakerState.OPEN

    def probe_at(self) -> float:
        """The earliest time of the next call: minus infinity while closed."""
        return float("-inf") if self.opened_at is None else self.opened_at + self.cooldown_seconds

    def after_failure(self, now: float) -> CircuitBreaker:
        count = self.failure_count + 1
        opened_at = now if count >= self.failure_threshold else self.opened_at
        return attrs.evolve(self, failure_count=count, opened_at=opened_at)

    def after_success(self) -> CircuitBreaker:
        return attrs.evolve(self, failure_count=0, opened_at=None)
