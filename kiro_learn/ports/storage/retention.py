"""Leaving the store by age: contents of events that memories were made of, and replaced records."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Amount, FileSize, Selected, Selection


@attrs.frozen(kw_only=True)
class EventAge:
    """Which events of a project are old enough to lose their contents."""

    namespace: Namespace
    before: datetime
    """The events happened before this time."""
    important_before: datetime
    """The same for events of sessions that an important memory cites."""


@attrs.frozen(kw_only=True)
class RecordAge:
    """Which memories of a project are old enough to be distilled."""

    namespace: Namespace
    before: datetime
    """The memories were made before this time."""
    notable_before: datetime
    """The same for memories from the importance ``NOTABLE`` on; from ``IMPORTANT`` on none is distilled."""


class RetentionReads(Protocol):
    """Reads of old events and records."""

    async def count_expirable(self, age: EventAge) -> Amount:
        """How many events ``list_expirable`` would list in all, and the bytes of their contents."""

    async def list_expirable(self, age: EventAge, *, limit: int) -> list[EventId]:
        """Events that are old enough, oldest first. In each session these are all up to the last event that a live or
        forgotten record cites, since events before it were learned in the same run or an earlier one.

        Left out are waiting and parked events, events that a parked cluster cites, and sessions of which no memory was
        made.
        """

    async def has_expired(self, event_ids: Collection[EventId]) -> bool:
        """Whether one of these events has lost its content."""

    async def list_distillable(
        self, age: RecordAge, *, after: tuple[datetime, RecordId] | None, limit: int
    ) -> list[MemoryRecord]:
        """Learned records that are old enough and were never distilled, oldest first, after the time and id ``after``.
        Left out are records that are protected (``MemoryRecord.is_protected``), edited, captured directly or shared by
        others.
        """

    async def count_replaced(self, namespace: Namespace, *, before: datetime) -> Amount:
        """How many records were replaced before this time, and the bytes of their texts."""

    async def get_file_size(self) -> FileSize:
        """The size of the store, and how much of that is free."""

    async def give_back_space(self) -> None:
        """Rewrite the file without its free space. Reads go on, writes wait.

        Cancellation: the file was rewritten, or is unchanged.

        Raises:
          StorageError: there is no room for the second file that this needs meanwhile.
        """


class RetentionWrites(Protocol):
    """Deleting old contents and records."""

    def expire_events(self, namespace: Namespace, event_ids: Collection[EventId]) -> Amount:
        """Replace the contents of these events by ``EXPIRED``, except of those that wait. Nothing brings the contents
        back, and no relearning reads these events. ``erase_forgotten`` overwrites what is left of the contents.
        """

    def mark_distilled(self, record_ids: Collection[RecordId]) -> None:
        """Let ``list_distillable`` leave these live records out, even after they were replaced and put back."""

    def delete_replaced(self, namespace: Namespace, *, before: datetime, limit: int) -> Amount:
        """Delete for good the records that the first ``limit`` replacements before this time replaced; these
        replacements can no longer be undone. Records that were replaced together are deleted together.
        """


# Forgetting by a selection: finding its records and events, and removing them in steps that survive a restart.

Forgotten: TypeAlias = AbstractSet[tuple[EventId, bytes]]
"""Events, each with the digest of a memory's words; an empty digest stands for the event itself."""


class ForgettingReads(Protocol):
    """Reads for forgetting by a selection."""

    async def select(self, selection: Selection) -> Selected:
        """All that ``selection`` finds, with the records, live and replaced, that were learned from its events."""

    async def has_doomed(self) -> bool:
        """Whether a forgetting has begun and is not finished, in the store or in its copies."""

    async def list_forgotten(self) -> Forgotten:
        """All that was ever forgotten, of all projects."""


class ForgettingWrites(Protocol):
    """Removing the selected records and events. Between two steps others may write; an item stays doomed until it is
    removed.
    """

    def doom(self, selected: Selected, *, whole: Namespace | None = None) -> None:
        """Remember that these are to be removed. From now on nothing that cites one of the events is committed, and
        none of the events is taken in again. ``whole``: the rest of this project is removed too.
        """

    def forget_doomed(self, *, limit: int) -> int:
        """Remove ``limit`` doomed items, records before events. Returns how many; 0: all are removed, and
        ``erase_forgotten`` overwrites what is left of them.
        """

    def forgetting_done(self) -> None:
        """Note that the store has nothing left of what was doomed; its copies may still have it."""

    def copies_done(self) -> None:
        """Note that no copy has any of it left, except the copies that people were told of."""

    def forget_again(self, forgotten: Forgotten, selection: Selection) -> None:
        """In a copy of the store: remove at once all that was ``forgotten``, and all that ``selection`` finds there."""

    def has_erased(self, namespace: Namespace, event_ids: Collection[EventId]) -> bool:
        """Whether one of these events was removed or is doomed, or the project was merged into another."""
