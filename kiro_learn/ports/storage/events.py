"""Events: what agents did, as hooks reported it; sessions of agents: which one a hook is of, and what it was told; and
counts of events and records.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event
from kiro_learn.model.feedback import ToldId, ToldItem
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, Pause
from kiro_learn.model.statistics import Days, NamedRecord, ProjectInfo, Session, SessionHead, Stats, ToldSession
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
        ...

    async def list_teachers(self, record_ids: Sequence[RecordId]) -> dict[RecordId, frozenset[str]]:
        """The actors of the events that each record cites, as far as these are stored."""
        ...

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """Events by time of happening, newest first.

        Raises:
          InvalidRequest: ``cursor`` is none of ours.
        """
        ...

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        """Stored events in the order they arrived, as if they waited: those that happened at or after ``since`` and
        arrived after the event ``after``; what waits, is parked, has expired or was cited by a forgotten record is left
        out. ``position`` has no meaning.

        Raises:
          InvalidRequest: the project has no event ``after``.
        """
        ...


class EventWrites(Protocol):
    """Writes of events."""

    def put_event(self, event: Event, *, buffered: bool, size_bytes: int | None = None) -> int:
        """Keep ``event`` and return its size; 0 if its id was known: nothing changes then, not even its first time.

        ``buffered``: also let it wait for its project's next learning run. ``size_bytes``: else its body's, as stored.
        """
        ...

    def is_reported(self, event: Event, *, within: timedelta) -> bool:
        """Whether the same step of the same session is stored under an id that is not derived, as hooks give them where
        an agent names no call: of the same kind and text, or tool and input, and so near in time.
        """
        ...

    def find_prompts_before(self, event_id: EventId, *, limit: int) -> list[Event]:
        """The last prompts that came before this event in its session, the newest first; none if there is no such."""
        ...


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
        ...

    async def get_session_heads(self, sessions: Sequence[Session]) -> list[SessionHead]:
        """What each of these began with, and how many live records cite its events; in the same order."""
        ...

    async def list_session_events(
        self, namespace: Namespace, session_id: str, *, limit: int, after: EventPlace | None
    ) -> SessionEvents:
        """At most ``limit`` events of a session that stand after a place, oldest first."""
        ...

    async def get_events(self, event_ids: Collection[EventId]) -> list[Event]:
        """The events of these ids, oldest first; unknown ones are left out, and damaged ones."""
        ...

    async def get_memories_of_events(
        self, namespace: Namespace, event_ids: Collection[EventId]
    ) -> dict[EventId, list[NamedRecord]]:
        """The live records that cite each of these events; events without any are left out."""
        ...

    async def list_told_sessions(self, record_id: RecordId) -> list[ToldSession]:
        """The sessions that were told a record and are remembered, the last first."""
        ...

    async def get_hook_session(self, key: str) -> str | None:
        """The session id put last under ``key`` (a process and folder); None if there is none."""
        ...

    async def list_pauses(self) -> list[Pause]:
        """All pauses."""
        ...

    async def list_told(self) -> list[ToldItem]:
        """What all sessions were told, in the order in which they were told it last."""
        ...


class SessionWrites(Protocol):
    """Writes of hook sessions, and of what each session was shown."""

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember which session an agent that does not name one is in."""
        ...

    def put_pause(self, pause: Pause) -> None:
        """Remember a pause."""
        ...

    def delete_pause(self, namespace: Namespace, session_id: str | None) -> None:
        """Forget a pause; nothing if there is none."""
        ...

    def put_told(
        self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], *, prompt_number: int
    ) -> None:
        """Remember that a session was told these last by its prompt of this number; what is not there is left unknown.
        What is forgotten later, or goes for good when a replacement is undone, goes from here too.
        """
        ...

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        """Remember nothing of what a session was told."""
        ...

    def forget_told(self, item_ids: Collection[ToldId]) -> None:
        """Remember of no session that it was told these."""
        ...


class StatisticsReads(Protocol):
    """Reads of counts and of the list of projects."""

    async def get_stats(self, namespace: Namespace | None) -> Stats:
        """Counts of events and records, of one project or, if ``namespace`` is None, of all."""
        ...

    async def get_days(self, namespace: Namespace | None, *, since: datetime) -> Days:
        """What went on by day since then, in one project or, if ``namespace`` is None, in all."""
        ...

    async def list_projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""
        ...

    async def get_project_sizes(self) -> dict[Namespace, int]:
        """Bytes of what is stored of each project: its events, its records with their vectors, and those they replaced.

        Without indexes, rows' heads and the graph. Reads the head of every row: as long as a count of all takes.
        """
        ...
