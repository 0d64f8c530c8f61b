"""What happens, as it happens: memories that are learned, prompts that are answered, and the figures after that."""

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
"""The number of last events that are kept for a listener that comes back."""

MOST_LISTENERS = 8
"""The most listeners at once: each holds a connection, and agents need some too."""

MOST_AT_ONCE = 50

STATUS_SECONDS = 1.0
"""The least time from one status to the next."""

HEARTBEAT_SECONDS = 15.0
"""After this time without an event, a listener gets an empty list, so that it can send its peer a sign of life."""


@attrs.frozen(kw_only=True)
class LearnedNow:
    """A memory was stored, in whichever way it came."""

    record_id: RecordId
    title: str
    type: str
    namespace: Namespace
    at: datetime
    session_id: str | None
    """The session of the first event that the memory came from, if that event is kept."""


@attrs.frozen(kw_only=True)
class StatusNow:
    """The present figures, as far as they are known without the store."""

    recall: RecallStatistics
    feedback: FeedbackCounts
    calls: int
    """Calls of models today (UTC)."""
    writes_waiting: int


@attrs.frozen
class LiveEvent:
    """One thing that happened."""

    event_id: str
    what: LearnedNow | Report | StatusNow | None
    """What happened; None: some events were missed, so the listener has to read everything again."""


Happened: TypeAlias = RecordStored | Report


class LiveFeed:
    """Numbers what happens, keeps the last of it, and wakes the listeners. Nothing waits for a listener."""

    def __init__(self, storage: StorageBackend, status: Callable[[], StatusNow], *, run_id: str) -> None:
        """``run_id`` names this run of the daemon."""
        self._storage = storage
        self._status = status
        self._run_id = run_id
        self._kept: deque[Happened] = deque(maxlen=KEPT)
        self.last_number = 0
        """The number of the last event; the first event has 1."""
        self.version = 0
        """A counter that grows with every change, also with changes that are no event."""
        self.listener_count = 0
        self._changed = trio.Event()

    def apply(self, change: Change) -> None:
        """Note a change: a stored record is an event, and any other change may change the figures."""
        if isinstance(change, RecordStored):
            self.add(change)
        else:
            self._wake()

    def add(self, happened: Happened) -> None:
        """Add an event: a record was stored, or a prompt answered."""
        self._kept.append(happened)
        self.last_number += 1
        self._wake()

    def listen(self, last_event_id: str | None = None) -> Listener | None:
        """Follow the events from now on, or after a given one; None if there are ``MOST_LISTENERS`` already."""
        if self.listener_count >= MOST_LISTENERS:
            return None
        self.listener_count += 1
        return Listener(self, self._number_of(last_event_id))

    def event_id(self, number: int) -> str:
        """The id of the event with this number, whether the event is kept or not."""
        return f"{self._run_id}-{number}"

    def after(self, number: int) -> Sequence[Happened] | None:
        """The next events after event ``number``; None if the first of them is not kept any more."""
        first = self.last_number - len(self._kept)
        return None if number < first else list(islice(self._kept, number - first, number - first + MOST_AT_ONCE))

    async def beyond(self, version: int) -> None:
        """Wait until there was a change after ``version``."""
        while self.version == version:
            await self._changed.wait()

    async def events_of(self, happened: Sequence[Happened], number: int) -> list[LiveEvent]:
        """The events in the form for listeners, the first with ``number``; without records that are gone by now."""
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
        """The present figures. The id is that of the last event, so that a listener can go on from it."""
        return LiveEvent(self.event_id(self.last_number), self._status())

    def _wake(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = trio.Event()

    def _number_of(self, event_id: str | None) -> int | None:
        """The number of an event of this run; None if the id is of another run, or invalid."""
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
    """Gets events in their order, none twice, and none left out without a gap event. Close it at the end."""

    def __init__(self, feed: LiveFeed, number: int | None) -> None:
        """``number``: the last event that the listener knows; None if it may have missed some."""
        self._feed = feed
        self._has_gap = number is None or feed.after(number) is None
        self._number = feed.last_number if number is None or self._has_gap else number
        self._seen = self._shown = -1
        self._status_at = -math.inf
        self._is_open = True

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> list[LiveEvent]:
        """The next events, with a status if the figures may have changed; an empty list after a long quiet time.

        Raises:
          StopAsyncIteration: the listener fell so far back that its next events are not kept any more.
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
        """Give up the place, so that another listener can have it. A second close does nothing."""
        self._feed.listener_count -= self._is_open
        self._is_open = False
