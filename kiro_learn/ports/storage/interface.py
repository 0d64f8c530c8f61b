"""The store's contract: what every implementation keeps, promises and refuses. Also the port to the storage actor, for
code that writes through it.

The other modules of this folder hold the contract's parts; this one holds what concerns other daemons on the same
store. Rules of these files: writing goes through a transaction, reading does not. A transaction's methods are
synchronous, because the implementation runs them together, wherever it likes. No library's exception comes out.
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
        """What other daemons committed since the last call, in the order of their commits.

        Waits for a commit, but no longer than half a minute; in a store for one daemon, for ever.

        Raises:
          StorageUnavailable: the server cannot be reached.
          StorageError: this daemon was cut off for so long that the commits of others are no longer known.
        """

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Hold the turn to do ``name`` during the block; only one daemon can hold it.

        Yields False if another daemon holds it. The turn ends with the daemon, or when the daemon is cut off from the
        server. Then another daemon may do the same work at the same time, so work that must happen once is checked when
        it is committed.
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
    """All writes. Those of one piece of work are kept together, or none is."""

    def attempt(self, work: Work[T]) -> T:
        """Run ``work`` as a part of this work: if it raises, it alone is undone, and the error comes out.

        A row that the store refuses raises a StorageError, and an exception that is not ours an UnexpectedError; after
        either, the outer work can go on. A failure of the store itself ends it.
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

        A work that raises is undone alone, as an attempt is; a failure of the store itself undoes all works and is
        raised.
        """

    async def erase_forgotten(self) -> bool:
        """Overwrite all that is left of forgotten data in the store's files. Other writes may come in between.

        False: a reader holds an earlier state, and the next call does the rest.
        """

    async def close(self) -> None:
        """Close the file or the connections. Closing again does nothing."""


class StorageWriter(Protocol):
    """Runs pieces of writing one after the other, grouped into transactions as it likes."""

    async def write(self, work: Work[T], *, then: Callable[[T], None] | None = None) -> T:
        """Run ``work`` in a transaction and return its result, once that is durable.

        Cancellation: work that was sent is committed all the same.

        Args:
          then: called with the result once it is durable, even if the caller was cancelled meanwhile.

        Raises:
          ActorStopped: the daemon is going down.
          KiroLearnError: what ``work`` raised, undone; or StorageError.
        """
