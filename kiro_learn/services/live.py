"""What happens, while it happens: what is learned, how prompts are answered, and how things are then."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeAlias

import attrs
import trio

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FeedbackCounts, Report
from kiro_learn.ports.storage.answers import Change, RecordStored
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.retrieval_log import RecallStatistics

KEPT = 500
"""The last events, which a listener that comes back is told."""

MOST_LISTENERS = 8
"""At once: each holds a connection, of which agents need some."""

MOST_AT_ONCE = 50

STATUS_SECONDS = 1.0
"""From one status to the next, at least."""

HEARTBEAT_SECONDS = 15.0
"""After so long without an event, a listener is given none, so that it can show its peer that it is there."""


@attrs.frozen(kw_only=True)
class LearnedNow:
    """A memory was stored, whichever way it came."""

    record_id: RecordId
    title: str
    type: str
    namespace: Namespace
    at: datetime
    session_id: str | None
    """Of the first event that it came from, if that is kept."""


@attrs.frozen(kw_only=True)
class StatusNow:
    """How things are, as far as it is known without a look at the store."""

    recall: RecallStatistics
    feedback: FeedbackCounts
    calls: int
    """Of models, today (UTC)."""
    writes_waiting: int


@attrs.frozen
class LiveEvent:
    """One thing that happened."""

    event_id: str
    what: LearnedNow | Report | StatusNow | None
    """None: some of what happened was missed, so that it has to be read anew."""


Happened: TypeAlias = RecordStored | Report


class LiveFeed:
    """Numbers what happens, keeps the last of it, and wakes who listens. Nothing waits for a listener."""

    def __init__(self, storage: StorageBackend, status: Callable[[], StatusNow], *, run_id: str) -> None:
        """``run_id`` names this run of the daemon."""
        self._storage = storage
        self._status = status
        self._run_id = run_id
        self._kept: deque[Happened] = deque(maxlen=KEPT)
        self.last_number = 0
        """Of what happened last; the first is 1."""
        self.version = 0
        """Grows with every change, also with those that are no event."""
        self.listener_count = 0
        self._changed = trio.Event()

    def apply(self, change: Change) -> None:
        """A record was stored: that is an event. Any other change may change the figures."""
        if isinstance(change, RecordStored):
            self.add(change)
        else:
            self._wake()

    def add(self, happened: Happened) -> None:
        """A record was stored, or a prompt answered."""
        self._kept.append(happened)
        self.last_number += 1
        self._wake()

    def listen(self, last_event_id: str | None = None) -> Listener | None:
        """Follow what happens from now on, or after an event; None if ``MOST_LISTENERS`` do."""
        if self.listener_count >= MOST_LISTENERS:
            return None
        self.listener_count += 1
        return Listener(self, self._number_of(last_event_id))

    def event_id(self, number: int) -> str:
        """Of the event of that number, also where it is not kept."""
        return f"{self._run_id}-{number}"

    def after(self, number: int) -> Sequence[Happened] | None:
        """The next events after that of ``number``; None if the first of them is not kept any more."""
        first = self.last_number - len(self._kept)
        return None if number < first else list(islice(self._kept, number - first, number - first + MOST_AT_ONCE))

    async def beyond(self, version: int) -> None:
        """Wait until there was a change after ``version``."""
        while self.version == version:
            await self._changed.wait()

    async def events_of(self, happened: Sequence[Happened], number: int) -> list[LiveEvent]:
        """As they are told, the first with ``number``; without records that are gone by now."""
        wanted = [each.record_id for each in happened if isinstance(each, RecordStored)]
        records = {each.record_id: each for each in await self._storage.get_memory_records(wanted)} if wanted else {}
        events: list[LiveEvent] = []
        for place, each in enumerate(happened, start=number):
            if isinstance(each, Report):
                events.append(LiveEvent(self.event_id(place), each))
            elif each.record_id in records:
                events.append(LiveEvent(self.event_id(place), await self._learned(records[each.record_id])))
        return events

    def status(self) -> LiveEvent:
        """How things are; it has the id of the last event, so that it can be gone on from."""
        return LiveEvent(self.event_id(self.last_number), self._status())

    def _wake(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = trio.Event()

    def _number_of(self, event_id: str | None) -> int | None:
        """The number of an event of this run; None if it is of another one, or of none."""
        if event_id is None:
            return self.last_number
        run_id, _, number = event_id.rpartition("-")
        is_ours = run_id == self._run_id and number.isascii() and number.isdigit() and len(number) <= len(str(2**63))
        return int(number) if is_ours and int(number) <= self.last_number else None

    async def _learned(self, record: MemoryRecord) -> LearnedNow:
        source = await self._storage.get_event_by_id(record.source_event_ids[0])
        return LearnedNow(
            record_id=record.record_id,
            title=record.title,
            type=record.type_name,
            namespace=record.namespace,
            at=record.created_at,
            session_id=None if source is None else source.session_id,
        )


class Listener:
    """Gets events in their order, none twice and none left out but after a ``gap``. Close it in the end."""

    def __init__(self, feed: LiveFeed, number: int | None) -> None:
        """``number``: of the last event that it knows; None if it may have missed some."""
        self._feed = feed
        self._has_gap = number is None or feed.after(number) is None
        self._number = feed.last_number if number is None or self._has_gap else number
        self._seen = self._shown = -1
        self._status_at = -math.inf
        self._is_open = True

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> list[LiveEvent]:
        """The next events, a status among them where the figures may have changed; none if it was quiet for long.

        Raises:
          StopAsyncIteration: it did not ask for so long that what it has not seen is kept no more.
          StorageError: the store cannot be read.
        """
        feed, status_due_at = self._feed, self._status_at + STATUS_SECONDS
        is_status_owed = self._shown != feed.version
        with trio.move_on_at(status_due_at if is_status_owed else trio.current_time() + HEARTBEAT_SECONDS):
            await feed.beyond(self._seen)
        self._seen = feed.version
        happened = feed.after(self._number)
        if happened is None:
            raise StopAsyncIteration
        events = self._gap() + await feed.events_of(happened, self._number + 1)
        self._number += len(happened)
        if self._number < feed.last_number:
            self._seen = -1
        elif self._shown != self._seen and trio.current_time() >= status_due_at:
            self._shown, self._status_at = self._seen, trio.current_time()
            events.append(feed.status())
        return events

    def _gap(self) -> list[LiveEvent]:
        has_gap, self._has_gap = self._has_gap, False
        return [LiveEvent(self._feed.event_id(self._number), None)] if has_gap else []

    def close(self) -> None:
        """Make room for another one. A second close does nothing."""
        self._feed.listener_count -= self._is_open
        self._is_open = False
