"""What leaves the store: by age, or since a person wants it forgotten."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.backup import BackupCopy
from kiro_learn.model.checks import between
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord

EXPIRED = "[EXPIRED]"
"""Stands where the content of an event stood."""
IMPORTANT = 8
"""Importance from which a memory is never distilled, and its events are kept longer."""
NOTABLE = 6
"""Importance from which a memory is distilled later."""
DISTILLED = "distilled"
"""The strategy of a record that was made shorter by age."""
MOST_DAYS = 36_500
MOST_REWRITTEN_BYTES = 1 << 30
"""Of content, which is copied in memory while a file is rewritten without what is free in it."""

_DAYS = between(0, MOST_DAYS)


@attrs.frozen(kw_only=True)
class RetentionRules:
    """After how many days what leaves the store; 0: never."""

    event_days: int = attrs.field(default=0, validator=_DAYS)
    """Events that were learned from lose their contents; of an important memory's session after 30 days at the
    earliest."""
    distill_days: int = attrs.field(default=0, validator=_DAYS)
    """Memories become shorter; notable ones after 90 days at the earliest, important ones never."""
    replaced_days: int = attrs.field(default=0, validator=_DAYS)
    """Memories that were replaced are deleted."""


@attrs.frozen
class Amount:
    """How much there is of something."""

    count: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.count + other.count, self.bytes + other.bytes)


@attrs.frozen
class FileSize:
    """Of what the store keeps its data in."""

    bytes: int
    free_bytes: int
    """Of these, allocated and not used."""

    @property
    def content_bytes(self) -> int:
        """What is used."""
        return self.bytes - self.free_bytes


# What a person wants forgotten, and how much that is.


@attrs.frozen(kw_only=True)
class Selection:
    """What is to be forgotten. Events fit all that is given of session, time, source and secret; None: does not matter.

    The memories that were learned from such events go with them.
    """

    namespace: Namespace | None = None
    """None: of all projects."""
    is_whole: bool = False
    """All of the project, with what is left of it: names, runs, figures."""
    record_ids: tuple[RecordId, ...] = ()
    """Memories of the project by themselves, whatever else is given."""
    with_events: bool = False
    """Of these, also the events that they came from, and with those whatever else was learned from them."""
    session: str | None = None
    since: datetime | None = None
    """Happened then or later."""
    until: datetime | None = None
    """Happened before."""
    source: str | None = None
    """The agent or program that reported it; or how a memory came (its origin)."""
    secret: str | None = attrs.field(default=None, repr=False)
    """A text that stands in it."""

    @property
    def is_of_events(self) -> bool:
        """Whether events are looked for."""
        return self.is_whole or any(
            each is not None for each in (self.session, self.since, self.until, self.source, self.secret)
        )


@attrs.frozen(kw_only=True)
class Selected:
    """What a selection finds in the store."""

    event_ids: tuple[EventId, ...] = ()
    record_ids: tuple[RecordId, ...] = ()
    """Memories, and those that were replaced."""
    item_ids: tuple[str, ...] = ()
    """Items of the graph that hold the secret, or all of a whole project."""
    sessions: int = 0
    """Of these events."""
    memories: int = 0
    """Of the records, those that are live."""
    graph_items: int = 0
    """These, and those that stand on these events alone."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to forget."""
        return not (self.event_ids or self.record_ids or self.item_ids)


@attrs.frozen(kw_only=True)
class Foreseen:
    """What would be forgotten."""

    events: int
    sessions: int
    memories: int
    replaced: int
    """Memories that are kept only as what others replaced."""
    graph_items: int
    shown: tuple[MemoryRecord, ...]
    """The first of the memories."""
    same_words: tuple[MemoryRecord, ...]
    """Memories that stay, and hold the words of those that are shown."""


@attrs.frozen(kw_only=True)
class Erased:
    """What was forgotten."""

    events: int
    sessions: int
    memories: int
    graph_items: int
    is_overwritten: bool
    """Nothing is left of it in the store's file. False: a reader held an earlier state; it is overwritten later."""
    copies: tuple[BackupCopy, ...] = ()
    """Of the store, that have it still, since they cannot be changed."""
    damaged_copies: int = 0
    """How many more may have it: they are damaged, and so nothing was looked for in them."""
