"""Events: what agents did, as hooks reported it; what of it waits to be learned, and the runs that learn it.

Here are also sessions of agents: which one a hook is of, and what it was told; what was learned and could not be
committed; and counts of events, records and model calls.
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
"""Where an event stands in a list: when it happened, and its id."""


@attrs.frozen
class SessionEvents:
    """A slice of a session's events, oldest first."""

    session: Session | None
    """None if it has reported nothing, or what it reported is gone."""
    events: tuple[Event, ...]
    """Damaged ones are left out."""
    is_end: bool


class EventReads(Protocol):
    """Reads of events."""

    async def get_event_by_id(self, event_id: EventId) -> Event | None:
        """The event, learned or not; None if there is none."""

    async def list_teachers(self, record_ids: Sequence[RecordId]) -> dict[RecordId, frozenset[str]]:
        """The actors of the events that each record cites, as far as these are stored."""

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """Events by time of happening, newest first.

        Raises:
          InvalidRequest: ``cursor`` is none of ours.
        """

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        """Stored events in the order they arrived, as if they waited: those that happened at or after ``since`` and
        arrived after the event ``after``; what waits, is parked, has expired or was cited by a forgotten record is left
        out. ``position`` has no meaning.

        Raises:
          InvalidRequest: the project has no event ``after``.
        """


class EventWrites(Protocol):
    """Writes of events."""

    def put_event(self, event: Event, *, buffered: bool, size_bytes: int | None = None) -> int:
        """Keep ``event`` and return its size; 0 if its id was known: nothing changes then, not even its first time.

        ``buffered``: also let it wait for its project's next learning run. ``size_bytes``: else its body's, as stored.
        """

    def is_reported(self, event: Event, *, within: timedelta) -> bool:
        """Whether the same step of the same session is stored under an id that is not derived, as hooks give them where
        an agent names no call: of the same kind and text, or tool and input, and so near in time.
        """

    def find_prompts_before(self, event_id: EventId, *, limit: int) -> list[Event]:
        """The last prompts that came before this event in its session, the newest first; none if there is no such."""


class SessionReads(Protocol):
    """Reads of sessions with their events, of hook sessions, and of what each session was shown."""

    async def list_sessions(
        self, namespace: Namespace | None, *, limit: int, before: EventPlace | None = None
    ) -> list[Session]:
        """Those that reported something last, the last first; of all projects if that is None. An event that is
        a session of its own is none.

        Args:
          before: only those whose last event stands before this place.
        """

    async def get_session_heads(self, sessions: Sequence[Session]) -> list[SessionHead]:
        """What each of these began with, and how many live records cite its events; in the same order."""

    async def list_session_events(
        self, namespace: Namespace, session_id: str, *, limit: int, after: EventPlace | None
    ) -> SessionEvents:
        """At most ``limit`` events of a session that stand after a place, oldest first."""

    async def get_events(self, event_ids: Collection[EventId]) -> list[Event]:
        """The events of these ids, oldest first; unknown ones are left out, and damaged ones."""

    async def get_memories_of_events(
        self, namespace: Namespace, event_ids: Collection[EventId]
    ) -> dict[EventId, list[NamedRecord]]:
        """The live records that cite each of these events; events without any are left out."""

    async def list_told_sessions(self, record_id: RecordId) -> list[ToldSession]:
        """The sessions that were told a record and are remembered, the last first."""

    async def get_hook_session(self, key: str) -> str | None:
        """The session id put last under ``key`` (a process and folder); None if there is none."""

    async def list_pauses(self) -> list[Pause]:
        """All pauses."""

    async def list_told(self) -> list[ToldItem]:
        """What all sessions were told, in the order in which they were told it last."""


class SessionWrites(Protocol):
    """Writes of hook sessions, and of what each session was shown."""

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember which session an agent that does not name one is in."""

    def put_pause(self, pause: Pause) -> None:
        """Remember a pause."""

    def delete_pause(self, namespace: Namespace, session_id: str | None) -> None:
        """Forget a pause; nothing if there is none."""

    def put_told(
        self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], *, prompt_number: int
    ) -> None:
        """Remember that a session was told these last by its prompt of this number; what is not there is left unknown.
        What is forgotten later, or goes for good when a replacement is undone, goes from here too.
        """

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        """Remember nothing of what a session was told."""

    def forget_told(self, item_ids: Collection[ToldId]) -> None:
        """Remember of no session that it was told these."""


class StatisticsReads(Protocol):
    """Reads of counts and of the list of projects."""

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        """Counts of events and records, of one project or, if ``namespace`` is None, of all."""

    async def get_days(self, namespace: Namespace | None, *, since: datetime) -> Days:
        """What went on by day since then, in one project or, if ``namespace`` is None, in all."""

    async def list_projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""

    async def get_project_sizes(self) -> dict[Namespace, int]:
        """Bytes of what is stored of each project: its events, its records with their vectors, and those they replaced.

        Without indexes, rows' heads and the graph. Reads the head of every row: as long as a count of all takes.
        """


EARLIER_PROMPTS_PER_SESSION = 5
"""Most prompts of one session that a snapshot adds from before it; none that a forgotten record cited."""


class BufferReads(Protocol):
    """Reads of buffers and of parked clusters."""

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        """The oldest waiting events of a project, as many as fit in ``most_bytes``, but at least one if any waits."""

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        """How much of one project waits and is parked."""

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        """Every project for which something waits or is parked."""

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        """What could not be committed yet, by id, so oldest first; a damaged one is logged and left out."""


class BufferWrites(Protocol):
    """Changes of a buffer, and parked clusters."""

    def are_waiting(self, namespace: Namespace, positions: Collection[int]) -> bool:
        """Whether each entry of a snapshot still waits: another daemon may have learned, compacted or parked it."""

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        """What waits in the project's buffer up to position ``through`` waits no more; what is parked stays."""

    def compact_buffer(self, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
        """Put ``entries`` in the place of what waits up to ``through``, before whatever came later.

        Their ``position`` does not count: they get the last positions of the entries they replace. So callers learn,
        compact, park and unpark a project one after the other; only events arrive at any time. An event that stands
        for itself is the stored one of its id.

        Raises:
          InvalidRequest: there are more entries than they replace; or one stands for something else, or is of
            another project; or an event is there twice.
        """

    def park_buffer(self, namespace: Namespace, *, through: int) -> None:
        """Set aside what waits up to ``through``: no snapshot sees it until it is unparked, in its old place."""

    def unpark_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSize:
        """Let the oldest of what was set aside wait again, as many as fit in ``most_bytes`` but at least one.

        Returns the buffer's size afterwards.
        """

    def park_cluster(self, cluster: ParkedCluster) -> None:
        """Keep what could not be committed; a cluster of an id that is known is replaced."""

    def unpark_cluster(self, cluster_id: str) -> bool:
        """It need not be kept any longer. False: it was not kept, or another daemon has committed it."""


class UsageReads(Protocol):
    """Reads of learning runs and of model usage."""

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        """One value per day and project, by day, then by namespace."""

    async def list_runs(self, limit: int) -> list[LearningRun]:
        """The last learning runs, newest first."""


class UsageWrites(Protocol):
    """Writes of learning runs and of model usage."""

    def add_llm_usage(self, usage: LlmUsage) -> None:
        """Add to what the project asked of models on that day."""

    def put_run(self, run: LearningRun) -> None:
        """Store a learning run; one with a known id is replaced."""
