"""Events: what agents did, as hooks reported it; the buffers of events that wait to be learned; and the runs that learn
them.

Also sessions of agents: which session a hook belongs to, and what each was told; clusters that could not be committed;
and counts of events, records and model calls.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot, LearningRun, ParkedCluster
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, Pause
from kiro_learn.model.retrieval import ToldId, ToldItem
from kiro_learn.model.statistics import (
    Days,
    LlmUsage,
    NamedRecord,
    ProjectInfo,
    Session,
    SessionHead,
    Stats,
    ToldSession,
)
from kiro_learn.ports.storage.answers import EventPage

EventPlace: TypeAlias = tuple[datetime, EventId]
"""The place of an event in a list: when it happened, and its id."""


@attrs.frozen
class SessionEvents:
    """A slice of a session's events, oldest first."""

    session: Session | None
    """None if the session has reported nothing, or its events are gone."""
    events: tuple[Event, ...]
    """Damaged ones are left out."""
    is_end: bool


class EventReads(Protocol):
    """Reads of events."""

    async def get_event_by_id(self, event_id: EventId) -> Event | None:
        """The event, learned or not; None if there is none."""

    async def list_teachers(self, record_ids: Sequence[RecordId]) -> dict[RecordId, frozenset[str]]:
        """The actors of the events that each record cites, as far as these events are stored."""

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """Events by time of happening, newest first.

        Raises:
          InvalidRequest: ``cursor`` was not made by this method.
        """

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        """Stored events in the order they arrived, as if they waited: those that happened at or after ``since`` and
        arrived after the event ``after``. Left out are events that wait, are parked, have expired or were cited by a
        forgotten record. ``position`` has no meaning.

        Raises:
          InvalidRequest: the project has no event ``after``.
        """


class EventWrites(Protocol):
    """Writes of events."""

    def put_event(self, event: Event, *, buffered: bool, size_bytes: int | None = None) -> int:
        """Keep ``event`` and return its size. If its id is known, return 0 and change nothing, not even its time.

        ``buffered``: also let it wait for its project's next learning run. ``size_bytes``: by default the size of its
        stored body.
        """

    def is_reported(self, event: Event, *, within: timedelta) -> bool:
        """Whether the same step of the same session is stored under an id that is not derived; hooks give such ids if
        an agent names no call. The same step has the same kind and body, and happened within ``within``.
        """

    def find_prompts_before(self, event_id: EventId, *, limit: int) -> list[Event]:
        """The last prompts before this event in its session, the newest first; none if the event is unknown."""


class SessionReads(Protocol):
    """Reads of sessions with their events, of hook sessions, and of what each session was shown."""

    async def list_sessions(
        self, namespace: Namespace | None, *, limit: int, before: EventPlace | None = None
    ) -> list[Session]:
        """The sessions of a project (None: of all) by their last event, the latest first. An event whose session has
        the event's own id is no session.

        Args:
          before: only sessions whose last event stands before this place.
        """

    async def get_session_heads(self, sessions: Sequence[Session]) -> list[SessionHead]:
        """Each session's first prompt, or first event, and how many live records cite its events; in the same order."""

    async def list_session_events(
        self, namespace: Namespace, session_id: str, *, limit: int, after: EventPlace | None
    ) -> SessionEvents:
        """At most ``limit`` events of a session after a place, oldest first."""

    async def get_events(self, event_ids: Collection[EventId]) -> list[Event]:
        """The events of these ids, oldest first; unknown and damaged ones are left out."""

    async def get_memories_of_events(
        self, namespace: Namespace, event_ids: Collection[EventId]
    ) -> dict[EventId, list[NamedRecord]]:
        """The live records that cite each of these events; events without any are left out."""

    async def list_told_sessions(self, record_id: RecordId) -> list[ToldSession]:
        """The remembered sessions that were told a record, the last first."""

    async def get_hook_session(self, key: str) -> str | None:
        """The session id last put under ``key`` (a process and folder); None if there is none."""

    async def list_pauses(self) -> list[Pause]:
        """All pauses."""

    async def list_told(self) -> list[ToldItem]:
        """The items that all sessions were told, by when they were told last."""


class SessionWrites(Protocol):
    """Writes of hook sessions, and of what each session was shown."""

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember the session of an agent that does not name one."""

    def put_pause(self, pause: Pause) -> None:
        """Remember a pause."""

    def delete_pause(self, namespace: Namespace, session_id: str | None) -> None:
        """Forget a pause; nothing happens if there is none."""

    def put_told(
        self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], *, prompt_number: int
    ) -> None:
        """Remember that the prompt of this number told the session these items; unknown items are ignored. An item that
        is forgotten later, or deleted when a replacement is undone, is removed here too.
        """

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        """Forget all that a session was told."""

    def forget_told(self, item_ids: Collection[ToldId]) -> None:
        """Forget that any session was told these items."""


class StatisticsReads(Protocol):
    """Reads of counts and of the list of projects."""

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        """Counts of events and records, of one project or, if ``namespace`` is None, of all."""

    async def get_days(self, namespace: Namespace | None, *, since: datetime) -> Days:
        """What happened by day since then, in one project or, if ``namespace`` is None, in all."""

    async def list_projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""

    async def get_project_sizes(self) -> dict[Namespace, int]:
        """Stored bytes of each project: its events, its records with their vectors, and replaced records.

        Indexes, row headers and the graph are not counted. Reads the header of every row, so it takes as long as
        counting all rows.
        """


EARLIER_PROMPTS_PER_SESSION = 5
"""The most earlier prompts of one session that a snapshot adds; prompts cited by a forgotten record are not added."""


class BufferReads(Protocol):
    """Reads of buffers and of parked clusters."""

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        """The oldest waiting events of a project, as many as fit in ``most_bytes``, but at least one if any waits."""

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        """How much of one project's buffer waits, and how much is parked."""

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        """Every project with waiting or parked events."""

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        """Clusters that could not be committed yet, by id and so oldest first; a damaged one is logged and left out."""


class BufferWrites(Protocol):
    """Changing buffers and parked clusters."""

    def are_waiting(self, namespace: Namespace, positions: Collection[int]) -> bool:
        """Whether all these entries of a snapshot still wait: another daemon may have learned, compacted or parked
        them.
        """

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        """Take events up to position ``through`` out of the project's buffer; parked ones stay."""

    def compact_buffer(self, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
        """Put ``entries`` in the place of the waiting events up to ``through``, before any later ones.

        Their ``position`` does not count: they get the last positions of the entries they replace. So callers must
        learn, compact, park and unpark a project one after the other; only events may arrive at any time. For an event
        that stands for itself, the stored event of its id is used.

        Raises:
          InvalidRequest: there are more entries than they replace; or one stands for an event that does not
            wait, or is of another project; or an event appears twice.
        """

    def park_buffer(self, namespace: Namespace, *, through: int) -> None:
        """Set aside the waiting events up to ``through``: no snapshot contains them until they are unparked, in their
        old place.
        """

    def unpark_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSize:
        """Let the oldest parked events wait again, as many as fit in ``most_bytes`` but at least one.

        Returns the buffer's size afterwards.
        """

    def park_cluster(self, cluster: ParkedCluster) -> None:
        """Keep a cluster that could not be committed, in place of one with the same id."""

    def unpark_cluster(self, cluster_id: str) -> bool:
        """Drop a parked cluster. False: it was not kept, or another daemon has committed it."""


class UsageReads(Protocol):
    """Reads of learning runs and of model usage."""

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        """The usage of each day and project, by day, then by namespace."""

    async def list_runs(self, limit: int) -> list[LearningRun]:
        """The last learning runs, newest first."""


class UsageWrites(Protocol):
    """Writes of learning runs and of model usage."""

    def add_llm_usage(self, usage: LlmUsage) -> None:
        """Add to the project's model calls and tokens of that day."""

    def put_run(self, run: LearningRun) -> None:
        """Store a learning run; one with a known id is replaced."""
