"""What a person wants forgotten, and how much that is."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.backup import BackupCopy
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord


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
    """Memories by themselves, whatever else is given."""
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
    """Items of the graph that hold the secret."""
    sessions: int = 0
    """Of these events."""
    memories: int = 0
    """Of the records, those that are live."""
    graph_items: int = 0
    """That stand on these events alone, or hold the secret."""

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
