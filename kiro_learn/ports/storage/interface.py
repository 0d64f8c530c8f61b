"""The store's contract: what every implementation keeps, promises and refuses; and the port to the storage actor, for
code that writes through it.

What it keeps is told part by part in the modules beside this one; what it tells of other daemons, and how they take
turns, is here. Rules of these files: writing goes through a transaction, reading does not. A transaction's methods are
synchronous, because they run together, in one piece, wherever the implementation runs them. No library's exception
comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

from kiro_learn.ports.storage.answers import Change, Outcome
from kiro_learn.ports.storage.embeddings import EmbeddingReads, EmbeddingWrites
from kiro_learn.ports.storage.events import (
    BufferReads,
    BufferWrites,
    EventReads,
    EventWrites,
    SessionReads,
    SessionWrites,
    StatisticsReads,
    UsageReads,
    UsageWrites,
)
from kiro_learn.ports.storage.export import (
    ExportReads,
    FeedbackReads,
    FeedbackWrites,
    ProjectReads,
    ProjectWrites,
    RestoreWrites,
)
from kiro_learn.ports.storage.graph import GraphReads, GraphWrites
from kiro_learn.ports.storage.records import (
    HistoryReads,
    HistoryWrites,
    ObservationReads,
    ObservationWrites,
    RecordReads,
    RecordWrites,
    WordReads,
    WordWrites,
)
from kiro_learn.ports.storage.retention import ForgettingReads, ForgettingWrites, RetentionReads, RetentionWrites


class OtherDaemons(Protocol):
    """The other daemons on the same store. A store in a file has none."""

    async def follow_others(self) -> Sequence[Change]:
        """What others committed since this was asked last, in the order of their commits.

        It waits until there is something, but no longer than half a minute. Where there is only one daemon, for ever.

        Raises:
          StorageUnavailable: the server is away.
          StorageError: this daemon was cut off for so long that what others did is no longer known.
        """

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Have the turn to do ``name`` for the length of the block, which no other daemon has then.

        Gives False where another one has it. The turn ends with the daemon, or when it is cut off, and another may do
        the same then while it goes on: what must happen once is checked where it is committed.
        """


T = TypeVar("T")


class StorageTransaction(
    EventWrites,
    RecordWrites,
    WordWrites,
    EmbeddingWrites,
    BufferWrites,
    HistoryWrites,
    UsageWrites,
    SessionWrites,
    ObservationWrites,
    GraphWrites,
    RetentionWrites,
    ForgettingWrites,
    FeedbackWrites,
    ProjectWrites,
    RestoreWrites,
    Protocol,
):
    """All writes; what one piece of work does with it is kept wholly or not at all."""

    def attempt(self, work: Work[T]) -> T:
        """Run ``work`` in one piece, within this one: if it raises, it alone is undone, and the error comes out.

        A row that the store refuses is a StorageError, and an exception that is none of ours an UnexpectedError, after
        which this goes on; a failure of the store itself ends it.
        """


Work: TypeAlias = Callable[[StorageTransaction], T]


class StorageBackend(
    EventReads,
    RecordReads,
    WordReads,
    EmbeddingReads,
    BufferReads,
    HistoryReads,
    UsageReads,
    SessionReads,
    StatisticsReads,
    ObservationReads,
    GraphReads,
    RetentionReads,
    ForgettingReads,
    FeedbackReads,
    ProjectReads,
    ExportReads,
    OtherDaemons,
    Protocol,
):
    """One store. Reads see every commit that was acknowledged before they began.

    Every method may raise StorageUnavailable (closed, or the file is gone), StorageBusy and StorageCorrupt.
    Cancellation: a read is interrupted and leaves nothing behind; a write is wholly done or wholly undone.
    """

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        """Run each work in order, commit them together, durably, and answer one outcome each.

        A work that raises is undone alone, as an attempt is; a failure of the store itself undoes all and comes out.
        """

    async def erase_forgotten(self) -> bool:
        """Overwrite what is left, where the store keeps its data, of what was forgotten. Writes go on in between.

        False: a reader holds an earlier state, and the next call does the rest.
        """

    async def close(self) -> None:
        """Let go of the file. A second close does nothing."""


class StorageWriter(Protocol):
    """Runs pieces of writing, one after the other, in whatever transactions it makes of them."""

    async def write(self, work: Work[T], *, then: Callable[[T], None] | None = None) -> T:
        """Run ``work`` in a transaction and answer what it returns, once that is durable.

        Cancellation: a work that was sent is committed all the same.

        Args:
          then: called with the answer once that is durable, also if the caller was cancelled meanwhile.

        Raises:
          ActorStopped: the daemon is going down.
          KiroLearnError: what ``work`` raised, undone; or StorageError.
        """
