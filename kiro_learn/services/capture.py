"""Takes in what happened: redacted, durable, once; then the project is told."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

import attrs

from kiro_learn.actors.projects import Projects
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.privacy.scrub import scrub_event
from kiro_learn.runtime.offload import Offload
from kiro_learn.wire.messages import body_bytes, body_weight

SMALL_BYTES = 32_768
"""A body of this size is redacted in about two milliseconds (benchmarks/redaction.py)."""


@attrs.frozen
class Captured:
    """What became of an event."""

    event_id: EventId
    stored: bool | Literal["pending"]
    """True: it is safe. False: it is a repeat, which changed nothing. Pending: the store is late, and the sender is to
    send it again, which is safe."""


class Capture:
    """Every event comes through here, from whichever door."""

    def __init__(self, writer: StorageActor, projects: Projects, *, offload: Offload, dedup_count: int) -> None:
        self._writer = writer
        self._projects = projects
        self._offload = offload
        self._dedup_count = dedup_count
        self._recent: OrderedDict[EventId, None] = OrderedDict()
        """Ids known to be durable, the one seen longest ago first: a repeat of them needs no look at the disk."""

    async def take(self, event: Event) -> Captured:
        """Keep ``event``; when this returns it survives a crash and a power cut.

        Cancellation: if the storage actor has it by then, it is kept all the same, and its project is told.

        Raises:
          StorageError: it could not be kept; sending it again is safe.
        """
        if event.event_id in self._recent:
            self._recent.move_to_end(event.event_id)
            return Captured(event.event_id, stored=False)
        clean, size = await self._clean(event)

        def note(stored: bool) -> None:
            self._remember(event.event_id)
            if stored:
                self._projects.event_arrived(event.namespace, size)

        stored = await self._writer.write(
            lambda transaction: transaction.put_event(clean, size_bytes=size, buffered=True), then=note
        )
        return Captured(event.event_id, stored)

    async def _clean(self, event: Event) -> tuple[Event, int]:
        """The event without what is private, and the bytes of its body; a large one leaves the event loop for that."""
        if body_weight(event.body) <= SMALL_BYTES:
            return _scrubbed(event)
        return await self._offload(lambda: _scrubbed(event))

    def _remember(self, event_id: EventId) -> None:
        self._recent[event_id] = None
        while len(self._recent) > self._dedup_count:
            self._recent.popitem(last=False)


def _scrubbed(event: Event) -> tuple[Event, int]:
    clean = scrub_event(event)
    return clean, body_bytes(clean.body)
