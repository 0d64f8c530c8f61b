"""Events: what agents did, as hooks reported it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import EventPage


class EventReads(Protocol):
    """Reads of events."""

    async def get_event_by_id(self, event_id: EventId) -> Event | None:
        """The event, learned or not; None if there is none."""
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
