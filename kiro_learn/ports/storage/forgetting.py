"""Forgetting by a selection: what it finds, and removing it in steps that outlive the process."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeAlias

from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retention import Selected, Selection

Forgotten: TypeAlias = AbstractSet[tuple[EventId, bytes]]
"""Events, each with the digest of a memory's words; an empty digest stands for the event itself."""


class ForgettingReads(Protocol):
    """Reads of what is to be forgotten."""

    async def select(self, selection: Selection) -> Selected:
        """What ``selection`` finds, with the records, live and replaced, that were learned from its events."""
        ...

    async def has_doomed(self) -> bool:
        """Whether a forgetting was begun and is not done, in the store or in its copies."""
        ...

    async def list_forgotten(self) -> Forgotten:
        """What was ever forgotten, of all projects."""
        ...


class ForgettingWrites(Protocol):
    """Removing what was selected. Between two steps others may write; what is doomed stays so until it is removed."""

    def doom(self, selected: Selected, *, whole: Namespace | None = None) -> None:
        """Remember that these are to be removed. From now on nothing that cites one of the events is committed, and
        none of them is taken in again. ``whole``: all else of this project goes too.
        """
        ...

    def forget_doomed(self, *, limit: int) -> int:
        """Remove ``limit`` of what is doomed, records before events; returns how many. 0: all is removed, and
        ``erase_forgotten`` overwrites what is left of it.
        """
        ...

    def forgetting_done(self) -> None:
        """Nothing is left in the store of what was doomed; its copies may still have it."""
        ...

    def copies_done(self) -> None:
        """No copy has anything of it, but for those that were named."""
        ...

    def forget_again(self, forgotten: Forgotten, selection: Selection) -> None:
        """In a copy of the store: remove at once what was ``forgotten``, and what ``selection`` finds here."""
        ...

    def has_erased(self, namespace: Namespace, event_ids: Collection[EventId]) -> bool:
        """Whether one of these events was removed, or is doomed; or the project was merged into another."""
        ...
