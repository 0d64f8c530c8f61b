"""The store's contract: what every implementation keeps, promises and refuses.

Rules of this file: writing goes through a transaction, reading does not. A transaction's methods are synchronous,
because they run together, in one piece, wherever the implementation runs them. No library's exception comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.event import Event
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.vectors import Matrix, Vector

T = TypeVar("T")

NEIGHBOR_DISTANCE = 5
"""Most words between two that count as close together."""

EARLIER_PROMPTS_PER_SESSION = 5
"""Most prompts of one session that a snapshot of the buffer adds from before it."""


@attrs.frozen
class RecordStored:
    """A record was put; unless a RecordEmbedded follows, it has no vector yet."""

    namespace: Namespace
    record_id: RecordId


@attrs.frozen(eq=False)
class RecordEmbedded:
    """A record's vector was put or replaced."""

    namespace: Namespace
    record_id: RecordId
    created_at: datetime
    vector: Vector


@attrs.frozen
class RecordRemoved:
    """A record, its vector and its index entry are gone."""

    namespace: Namespace
    record_id: RecordId


Change: TypeAlias = RecordStored | RecordEmbedded | RecordRemoved


@attrs.frozen
class LearningRun:
    """One pass over one project's waiting events, as the books have it."""

    run_id: str
    namespace: Namespace
    strategy: str
    started_at: datetime
    finished_at: datetime
    event_count: int
    record_count: int
    problem: str | None
    """Why it learned nothing, or None."""


class StorageTransaction(Protocol):
    """What one piece of writing may do. All of it is kept, or none."""

    def put_event(self, event: Event, *, size_bytes: int, buffered: bool) -> bool:
        """Keep ``event``; False if its id was known, in which case nothing changes, not even its first time.

        Args:
          size_bytes: of the encoded body, as the buffer's thresholds count it.
          buffered: also let it wait for its project's next learning run.
        """
        ...

    def put_memory_record(self, record: MemoryRecord) -> None:
        """Keep ``record``, findable by its words at once and by its meaning once it has a vector.

        Raises:
          DuplicateRecord: its id is known.
        """
        ...

    def put_embedding(self, record_id: RecordId, embedding: Vector) -> None:
        """Keep the vector of a record, bit for bit; an unknown record is left unknown. One set aside no longer is.

        Raises:
          DimensionMismatch: it has not ``DIMENSION`` components.
        """
        ...

    def set_embedding_aside(self, record_id: RecordId, reason: str) -> None:
        """Stop listing the record among those that wait for a vector, and say why; one that has its vector stays."""
        ...

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """Forget records: index entry, vector, then row. Unknown ids are no error. Returns how many there were."""
        ...

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        """What waits in the project's buffer up to position ``through`` waits no more."""
        ...

    def put_run(self, run: LearningRun) -> None:
        """Enter a learning run in the books; an id that is known is replaced."""
        ...

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember which session an agent that does not name one is in."""
        ...


Work: TypeAlias = Callable[[StorageTransaction], T]


@attrs.frozen
class Committed(Generic[T]):
    """The work is durable."""

    value: T
    changes: tuple[Change, ...]
    """What it did to the records, in order: for whoever keeps an index in step."""


@attrs.frozen
class Refused:
    """The work raised one of our own errors and changed nothing."""

    error: KiroLearnError


Outcome: TypeAlias = Committed[Any] | Refused


@attrs.frozen
class SearchParams:
    """A search by words in one namespace."""

    namespace: Namespace
    query: str
    limit: int
    term_cap: int = 32
    with_neighbors: bool = False
    """Also look where the query's words stand close together."""


@attrs.frozen
class LexicalRanking:
    """Records that share words with a query, best first; ties by newest, then by id."""

    hits: tuple[Hit, ...]
    """``score``: bm25 negated, higher is better; 0 from the fallback."""
    ideal_score: float
    """Sum of the inverse document frequencies of the terms that were looked up (``term_cap`` of them at most), those
    unseen in the namespace at the largest: what a record of average length that holds each once would score. 0 from
    the fallback, from a namespace without records and for a query without terms."""
    terms: tuple[str, ...] = ()
    """Those that were looked up, in the query's order; none by the fallback."""
    neighbors: tuple[Hit, ...] = ()
    """If asked for: records in which two consecutive ones of ``terms`` stand within NEIGHBOR_DISTANCE words of each
    other, as many as ``hits`` may be, in the same order, by the bm25 of these pairs."""


@attrs.frozen(eq=False)
class EmbeddingTable:
    """Every vector of a namespace, as it was put. Rows agree: ids[i], created_ats[i], vectors[i]."""

    record_ids: tuple[RecordId, ...]
    created_ats: tuple[datetime, ...]
    vectors: Matrix


@attrs.frozen
class BufferSnapshot:
    """What waited for learning when it was taken, oldest first, and what was said just before in the same sessions."""

    events: tuple[Event, ...]
    earlier_prompts: tuple[Event, ...]
    """The last few prompts of each session in ``events``, from before its first event there and after its last
    session_summary before that (they had no final answer yet); in order of arrival."""
    through: int
    """Position of the last of ``events``; 0 when there are none."""
    size_bytes: int


@attrs.frozen
class BufferSize:
    """How much waits for learning."""

    event_count: int
    size_bytes: int


@attrs.frozen
class EmbeddingCounts:
    """Records, how many of them have a vector, and how many were set aside."""

    total: int
    embedded: int
    set_aside: int


@attrs.frozen
class ProjectInfo:
    """One project, as the lists show it."""

    namespace: Namespace
    project_id: str
    display_name: str
    event_count: int
    memory_count: int
    last_event_at: datetime | None


@attrs.frozen
class Stats:
    """Counts over one namespace, or over all."""

    total_events: int
    total_memories: int
    total_projects: int
    total_concepts: int
    observation_types: dict[str, int]
    event_kinds: dict[str, int]


@attrs.frozen
class RecordPage:
    """A slice of the records, newest first, and how many there are in all."""

    items: tuple[MemoryRecord, ...]
    total: int


@attrs.frozen
class EventPage:
    """A slice of the events, newest first, how many there are in all, and where the next slice starts."""

    items: tuple[Event, ...]
    total: int
    next_cursor: str | None


class StorageBackend(Protocol):
    """One store. Reads see every commit that was acknowledged before they began.

    Every method may raise StorageUnavailable (closed, or the file is gone), StorageBusy and StorageCorrupt.
    Cancellation: a read is interrupted and leaves nothing behind; a write is wholly done or wholly undone.
    """

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        """Run each work in order, commit them together, durably, and answer one outcome each.

        A work that raises a KiroLearnError is undone alone; any other exception undoes all and comes out.
        """
        ...

    async def with_transaction(self, work: Work[T]) -> T:
        """Run one work as ``transact`` does; its error is raised."""
        ...

    async def put_event(self, event: Event) -> bool:
        """``StorageTransaction.put_event`` in a transaction of its own, unbuffered."""
        ...

    async def put_memory_record(self, record: MemoryRecord) -> None:
        """``StorageTransaction.put_memory_record`` in a transaction of its own."""
        ...

    async def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """``StorageTransaction.delete_memory_record`` in a transaction of its own."""
        ...

    async def get_event_by_id(self, event_id: EventId) -> Event | None: ...

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        """The records of these ids, in this order; unknown ones are left out."""
        ...

    async def search_memory_records(self, params: SearchParams) -> list[MemoryRecord]:
        """The records of ``rank_by_words``, whole."""
        ...

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        """Records of exactly this namespace that share a term with the query, by bm25 within this namespace.

        A query without a term finds nothing. One that the full-text index refuses is looked for as a literal
        substring of title and summary instead, newest first.
        """
        ...

    async def get_backdrops(self, record_ids: Sequence[RecordId]) -> dict[RecordId, Backdrop]:
        """What a ranking weighs beside scores, for each of these records; unknown ones are left out."""
        ...

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        """Every stored vector of the namespace, oldest record first; a damaged one is logged and left out."""
        ...

    async def list_unembedded(self, limit: int) -> list[MemoryRecord]:
        """Records of any namespace that wait for a vector and were not set aside, newest first."""
        ...

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts: ...

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        """The oldest waiting events of a project, as many as fit in ``most_bytes``, but at least one if any waits."""
        ...

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        """Every project for which something waits."""
        ...

    async def list_runs(self, limit: int) -> list[LearningRun]:
        """The last learning runs, newest first."""
        ...

    async def get_stats(self, namespace: Namespace | None) -> Stats: ...

    async def list_projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""
        ...

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage: ...

    async def list_events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """Events by time of happening, newest first.

        Raises:
          InvalidRequest: ``cursor`` is none of ours.
        """
        ...

    async def get_hook_session(self, key: str) -> str | None: ...

    async def close(self) -> None:
        """Let go of the file. A second close does nothing."""
        ...
