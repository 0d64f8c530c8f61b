"""What may leave the store by age: contents of events that memories keep, and records that others replaced."""

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
    """They happened before."""
    important_before: datetime
    """The same for those of sessions that an important memory cites."""


@attrs.frozen(kw_only=True)
class RecordAge:
    """Which memories of a project are old enough to be distilled."""

    namespace: Namespace
    before: datetime
    """They were made before."""
    notable_before: datetime
    """The same for those from ``NOTABLE`` on; from ``IMPORTANT`` on none is distilled."""


class RetentionReads(Protocol):
    """Reads of what is old."""

    async def count_expirable(self, age: EventAge) -> Amount:
        """The events that ``list_expirable`` lists from first to last, and the bytes of their contents."""

    async def list_expirable(self, age: EventAge, *, limit: int) -> list[EventId]:
        """Events that are old enough, oldest first: of a session, all up to the last event that a record cites which is
        live or was forgotten. What came before that event was learned from in the same run, or in an earlier one.

        What waits or is parked is not among them, nor what a parked cluster cites, nor a session of which no memory was
        made.
        """

    async def has_expired(self, event_ids: Collection[EventId]) -> bool:
        """Whether one of these events lost its content."""

    async def list_distillable(
        self, age: RecordAge, *, after: tuple[datetime, RecordId] | None, limit: int
    ) -> list[MemoryRecord]:
        """Learned records that are old enough and were never distilled, oldest first, from behind the time and id
        ``after`` on. What is protected (``MemoryRecord.is_protected``), edited, captured directly or shared by others
        is not among them.
        """

    async def count_replaced(self, namespace: Namespace, *, before: datetime) -> Amount:
        """The records that were replaced before, and the bytes of their texts."""

    async def get_file_size(self) -> FileSize:
        """How much the store takes, and how much of that is free."""

    async def give_back_space(self) -> None:
        """Rewrite the file without what is free in it. Reads go on, writes wait.

        Cancellation: nothing was done, or all of it.

        Raises:
          StorageError: there is no room for the second copy that this takes meanwhile.
        """


class RetentionWrites(Protocol):
    """Removing what is old."""

    def expire_events(self, namespace: Namespace, event_ids: Collection[EventId]) -> Amount:
        """Put ``EXPIRED`` in the place of the contents of these events of a project, but of those that wait; nothing
        brings them back, and no relearning reads them. ``erase_forgotten`` overwrites what is left of them.
        """

    def mark_distilled(self, record_ids: Collection[RecordId]) -> None:
        """Let ``list_distillable`` leave these live records out, also when they were replaced and put back."""

    def delete_replaced(self, namespace: Namespace, *, before: datetime, limit: int) -> Amount:
        """Delete the records of the first ``limit`` replacements made before, for good: what replaced them can be
        undone no longer. What was replaced together goes together.
        """


# Forgetting by a selection: what it finds, and removing it in steps that outlive the process.

Forgotten: TypeAlias = AbstractSet[tuple[EventId, bytes]]
"""Events, each with the digest of a memory's words; an empty digest stands for the event itself."""


class ForgettingReads(Protocol):
    """Reads of what is to be forgotten."""

    async def select(self, selection: Selection) -> Selected:
        """What ``selection`` finds, with the records, live and replaced, that were learned from its events."""

    async def has_doomed(self) -> bool:
        """Whether a forgetting was begun and is not done, in the store or in its copies."""

    async def list_forgotten(self) -> Forgotten:
        """What was ever forgotten, of all projects."""


class ForgettingWrites(Protocol):
    """Removing what was selected. Between two steps others may write; what is doomed stays so until it is removed."""

    def doom(self, selected: Selected, *, whole: Namespace | None = None) -> None:
        """Remember that these are to be removed. From now on nothing that cites one of the events is committed, and
        none of them is taken in again. ``whole``: all else of this project goes too.
        """

    def forget_doomed(self, *, limit: int) -> int:
        """Remove ``limit`` of what is doomed, records before events; returns how many. 0: all is removed, and
        ``erase_forgotten`` overwrites what is left of it.
        """

    def forgetting_done(self) -> None:
        """Nothing is left in the store of what was doomed; its copies may still have it."""

    def copies_done(self) -> None:
        """No copy has anything of it, but for those that were named."""

    def forget_again(self, forgotten: Forgotten, selection: Selection) -> None:
        """In a copy of the store: remove at once what was ``forgotten``, and what ``selection`` finds here."""

    def has_erased(self, namespace: Namespace, event_ids: Collection[EventId]) -> bool:
        """Whether one of these events was removed, or is doomed; or the project was merged into another."""
