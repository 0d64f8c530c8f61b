"""Leaving the store: by age, or because a person wants something forgotten."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.backup import BackupCopy
from kiro_learn.model.checks import between
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord

EXPIRED = "[EXPIRED]"
"""The text that replaces the content of an event."""
IMPORTANT = 8
"""The importance from which a memory is never distilled, and its events are kept longer."""
NOTABLE = 6
"""The importance from which a memory is distilled later."""
DISTILLED = "distilled"
"""The strategy of a record that was shortened because of its age."""
MOST_DAYS = 36_500
MOST_REWRITTEN_BYTES = 1 << 30
"""The most content that is copied in memory while a file is rewritten without its free space."""

_DAYS = between(0, MOST_DAYS)


@attrs.frozen(kw_only=True)
class RetentionRules:
    """After how many days things leave the store; 0: never."""

    event_days: int = attrs.field(default=0, validator=_DAYS)
    """When events that were learned lose their contents; in a session of an important memory after 30 days at the
    earliest."""
    distill_days: int = attrs.field(default=0, validator=_DAYS)
    """When memories are shortened; notable ones after 90 days at the earliest, important ones never."""
    replaced_days: int = attrs.field(default=0, validator=_DAYS)
    """When memories that were replaced are deleted."""


@attrs.frozen
class Amount:
    """A number of things, and their size."""

    count: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.count + other.count, self.bytes + other.bytes)


@attrs.frozen
class FileSize:
    """The size of the store's file."""

    bytes: int
    free_bytes: int
    """How many of these are allocated but unused."""

    @property
    def content_bytes(self) -> int:
        """How many bytes are used."""
        return self.bytes - self.free_bytes


# Selections of events and memories to forget, and their amounts.


@attrs.frozen(kw_only=True)
class Selection:
    """A choice of events and memories to forget. Events must fit the session, time, source and secret, where given;
    None: does not matter.

    The memories that were learned from these events are forgotten with them.
    """

    namespace: Namespace | None = None
    """None: all projects."""
    is_whole: bool = False
    """The whole project, with all that belongs to it: names, runs, figures."""
    record_ids: tuple[RecordId, ...] = ()
    """Single memories of the project, in addition to all else that is given."""
    with_events: bool = False
    """For these memories, also the events that they came from, and all else that was learned from those events."""
    session: str | None = None
    since: datetime | None = None
    """Events that happened then or later."""
    until: datetime | None = None
    """Events that happened before then."""
    source: str | None = None
    """The agent or program that reported an event; or the origin of a memory."""
    secret: str | None = attrs.field(default=None, repr=False)
    """A text that occurs in it."""

    @property
    def is_of_events(self) -> bool:
        """Whether it selects events."""
        return self.is_whole or any(
            each is not None for each in (self.session, self.since, self.until, self.source, self.secret)
        )


@attrs.frozen(kw_only=True)
class Selected:
    """What a selection finds in the store."""

    event_ids: tuple[EventId, ...] = ()
    record_ids: tuple[RecordId, ...] = ()
    """Memories, both live and replaced."""
    item_ids: tuple[str, ...] = ()
    """Items of the graph that hold the secret, or all items of a whole project."""
    sessions: int = 0
    """How many sessions these events belong to."""
    memories: int = 0
    """How many of the records are live."""
    graph_items: int = 0
    """How many items of the graph go: these, and items whose only evidence are these events."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to forget."""
        return not (self.event_ids or self.record_ids or self.item_ids)


@attrs.frozen(kw_only=True)
class Foreseen:
    """A preview of what would be forgotten."""

    events: int
    sessions: int
    memories: int
    replaced: int
    """Replaced memories, which are kept only for undoing."""
    graph_items: int
    shown: tuple[MemoryRecord, ...]
    """The first memories that would be forgotten."""
    same_words: tuple[MemoryRecord, ...]
    """Memories that would stay although they hold the words of those in ``shown``."""


@attrs.frozen(kw_only=True)
class Erased:
    """What was forgotten, in numbers."""

    events: int
    sessions: int
    memories: int
    graph_items: int
    is_overwritten: bool
    """Whether the store's file holds nothing of it any more. False: a reader held an earlier state; it is overwritten
    later."""
    copies: tuple[BackupCopy, ...] = ()
    """Copies of the store that still hold it, since they cannot be changed."""
    damaged_copies: int = 0
    """How many more copies may hold it: they are damaged, so they could not be searched."""
