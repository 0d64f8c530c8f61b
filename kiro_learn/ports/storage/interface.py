"""The store's contract: what every implementation keeps, promises and refuses.

Rules of this file: writing goes through a transaction, reading does not. A transaction's methods are synchronous,
because they run together, in one piece, wherever the implementation runs them. No library's exception comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot
from kiro_learn.model.embedding_model import (
    BUNDLED_MODEL,
    KnownModel,
    ModelIdentity,
    ModelsInUse,
    ReembeddingCounts,
)
from kiro_learn.model.event import Event
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.ranking_features import RankingFeatures
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts, ProjectInfo, Stats
from kiro_learn.model.told import ToldRecord
from kiro_learn.model.usage import LlmUsage
from kiro_learn.model.vectors import Codes, Parts
from kiro_learn.ports.storage.answers import (
    NEIGHBOR_DISTANCE,
    EmbeddingTable,
    EventPage,
    LexicalRanking,
    RecordPage,
    SearchParams,
)
from kiro_learn.ports.storage.changes import Outcome

__all__ = ["NEIGHBOR_DISTANCE", "EmbeddingTable", "EventPage", "LexicalRanking", "RecordPage", "SearchParams"]
"""What is defined elsewhere and belongs to the contract too."""

T = TypeVar("T")

EARLIER_PROMPTS_PER_SESSION = 5
"""Most prompts of one session that a snapshot adds from before it; none that a forgotten record cited."""


class StorageTransaction(Protocol):
    """What one piece of writing may do. All of it is kept, or none."""

    def put_event(self, event: Event, *, size_bytes: int, buffered: bool) -> bool:
        """Keep ``event``; False if its id was known, in which case nothing changes, not even its first time.

        ``size_bytes``: of the encoded body. ``buffered``: also let it wait for its project's next learning run.
        """
        ...

    def put_memory_record(self, record: MemoryRecord) -> None:
        """Keep ``record``, findable by its words at once and by its meaning once it has a vector.

        Raises:
          DuplicateRecord: its id is known, be it as one that was replaced.
        """
        ...

    def put_embedding(self, record_id: RecordId, embedding: Parts, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record, bit for bit. One set aside no longer is.

        An unknown record is left unknown; vectors of a model that is not the current one and does not serve the
        record's project are not kept.

        Raises:
          DimensionMismatch: there is none, or they have not as many components as the model's.
        """
        ...

    def put_passages(self, record_id: RecordId, codes: Codes, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record's passages, whatever it had before of this model.

        Kept where ``put_embedding`` would keep its vectors. ``codes``: (passages, dimension); no rows if it has none.
        """
        ...

    def set_embedding_aside(self, record_id: RecordId, reason: str, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Stop listing the record among those that wait for a vector of ``model``, and say why.

        One that has its vector stays.
        """
        ...

    def adopt_model(self, model: KnownModel) -> None:
        """All records are to get vectors of ``model`` from now on; those of projects to come do at once.

        Other projects are searched by what they have, until ``switch_model``, which is tried for each right now.
        Vectors of models that no project is searched by any more are dropped, but for the bundled one's.
        """
        ...

    def switch_model(self, namespace: Namespace) -> None:
        """Have the project searched by the current model's vectors, in one step.

        Nothing happens while one of its records has no such vector and was not set aside, unless it has no vector of
        the model before either.
        """
        ...

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """Forget records with whatever they replaced, directly or not, and parked ones that say the same; what replaced
        them stays. Returns how many there were.
        """
        ...

    def is_forgotten(self, record: MemoryRecord) -> bool:
        """Whether a record of the same project was forgotten that cited one of its events, or said the same words."""
        ...

    def has_forgotten(self, namespace: Namespace, event_ids: Iterable[EventId]) -> bool:
        """Whether a record was forgotten that cited one of these events."""
        ...

    def replace_memory_records(self, replacement: Replacement) -> None:
        """Take ``replacement.replaced`` out of all that search, lists, counts and vectors see, and keep them.

        Of ``replaced`` only the ids count: what is kept is what is stored, vector and all. ``replacing`` were put just
        before, in the same work: undoing it forgets them.

        Raises:
          UnknownRecord: one of ``replaced`` or ``replacing`` is not there (any more), or of another project.
          InvalidRequest: the replacement's id is known; or one of ``replacing`` is among ``replaced``, or came with
            another replacement.
        """
        ...

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        """Take the replacement that brought ``record_id`` back: what came is gone for good, what went is as it was, but
        for a record whose words were forgotten with one of its events.

        Raises:
          UnknownRecord: there is no such record.
          NothingToUndo: it replaced nothing.
          ReplacedSince: a record that came with it has made way itself; its ``replaced_by`` can be undone, and is to be
            first.
        """
        ...

    def attempt(self, work: Work[T]) -> T:
        """Run ``work`` in one piece, within this one: if it raises, it alone is undone, and the error comes out.

        A row that the store refuses is a StorageError, after which this goes on; a failure of the store itself ends it.
        """
        ...

    def park_cluster(self, cluster: ParkedCluster) -> None:
        """Keep what could not be committed; a cluster of an id that is known is replaced."""
        ...

    def unpark_cluster(self, cluster_id: str) -> None:
        """It need not be kept any longer. An unknown id is no error."""
        ...

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        """What waits in the project's buffer up to position ``through`` waits no more; what is parked stays."""
        ...

    def compact_buffer(self, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
        """Put ``entries`` in the place of what waits up to ``through``, before whatever came later.

        Their ``position`` does not count: they get the last ones of those that make way. So whoever learns, compacts,
        parks and unparks one project does it in turn; only events arrive at any time. An event that stands for itself
        is the stored one of its id.

        Raises:
          InvalidRequest: there are more entries than of what makes way; or one stands for something else, or is of
            another project; or an event is there twice.
        """
        ...

    def park_buffer(self, namespace: Namespace, *, through: int) -> None:
        """Set aside what waits up to ``through``: no snapshot sees it until it is unparked, in its old place."""
        ...

    def unpark_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSize:
        """Let the oldest of what was set aside wait again, as many as fit in ``most_bytes`` but at least one.

        Returns the buffer's size afterwards.
        """
        ...

    def rebuild_words(self, namespace: Namespace, *, after: int, most: int) -> int | None:
        """Make the index of a project's words anew, of at most ``most`` records at a time.

        Args:
          after: 0 to begin, which empties the index; then what the call before returned.

        Returns:
          Where to go on, or None when every record is in the index. Until then, words are found without it.
        """
        ...

    def add_llm_usage(self, usage: LlmUsage) -> None:
        """Add to what the project asked of models on that day."""
        ...

    def put_run(self, run: LearningRun) -> None:
        """Enter a learning run in the books; an id that is known is replaced."""
        ...

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember which session an agent that does not name one is in."""
        ...

    def put_told(
        self, namespace: Namespace, session_id: str, record_ids: Sequence[RecordId], *, prompt_number: int
    ) -> None:
        """Remember that a session was told these records last by its prompt of this number; a record that is not there
        is left unknown. What is forgotten later, or goes for good when a replacement is undone, goes from here too.
        """
        ...

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        """Remember nothing of what a session was told."""
        ...


Work: TypeAlias = Callable[[StorageTransaction], T]


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
        """The records of these ids, in this order; unknown ones are left out, and damaged ones."""
        ...

    async def search_memory_records(self, params: SearchParams) -> list[MemoryRecord]:
        """The records of ``rank_by_words``, whole."""
        ...

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        """Records of exactly this namespace that share a term with the query, by bm25 within this namespace.

        A query without a term finds nothing. One that the full-text index refuses is looked for without it: what
        contains its terms, by their inverse document frequencies. So is every query while the index is damaged.
        """
        ...

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """What a ranking weighs beside scores, for each of these records; unknown ones are left out."""
        ...

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        """All vectors of the model that serves it, oldest record first; a damaged one is logged and left out."""
        ...

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records that wait for a vector of the model that serves their project and were not set aside, newest first.

        ``leave_out``: projects whose records are not wanted.
        """
        ...

    async def list_without_passages(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records that have a vector of the model that serves their project, and none put for their passages, alike."""
        ...

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        """What ``model`` made of the passages of these records, as it was put; records without any are left out."""
        ...

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts:
        """By the model that serves each project."""
        ...

    async def get_models(self) -> ModelsInUse: ...

    async def list_behind(self, limit: int) -> list[MemoryRecord]:
        """Records without a vector of the current model, in projects that another one serves.

        One project after the other, the newest record of each first.
        """
        ...

    async def count_reembedded(self) -> ReembeddingCounts: ...

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        """The oldest waiting events of a project, as many as fit in ``most_bytes``, but at least one if any waits."""
        ...

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        """How much of one project waits and is parked."""
        ...

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        """Every project for which something waits or is parked."""
        ...

    async def snapshot_events(
        self, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
    ) -> BufferSnapshot:
        """Stored events in the order they arrived, as if they waited: those that happened at or after ``since`` and
        arrived after the event ``after``; what waits, is parked or was cited by a forgotten record is left out.
        ``position`` has no meaning.

        Raises:
          InvalidRequest: the project has no event ``after``.
        """
        ...

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record: the one that brought it, then those that brought what it replaced,
        and so on; the last that was made first. Empty if it replaced nothing, or is not there; one that was replaced
        has a history of its own.
        """
        ...

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        """What could not be committed yet, by id, so oldest first; a damaged one is logged and left out."""
        ...

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        """One value per day and project, by day, then by namespace."""
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

    async def list_damaged(self) -> tuple[str, ...]:
        """Ids of the rows that cannot be read, as far as a read has met them since the store was opened. Every read
        goes on without them.
        """
        ...

    async def get_hook_session(self, key: str) -> str | None: ...

    async def list_told(self) -> list[ToldRecord]:
        """What all sessions were told, in the order in which they were told it last."""
        ...

    async def erase_forgotten(self) -> None:
        """Overwrite what is left, where the store keeps its data, of what was forgotten. Writes go on in between."""

    async def close(self) -> None:
        """Let go of the file. A second close does nothing."""
        ...
