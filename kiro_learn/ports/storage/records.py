"""Memory records: kept, read, listed, found by words, replaced and forgotten. Also the reads and writes for
observations, and for searches below /api.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.correction import Replacement
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import CapturedRecord
from kiro_learn.model.record import EVERYTHING, MemoryRecord, RecordFilter
from kiro_learn.model.retrieval import Hit, LexicalRanking, RankingFeatures
from kiro_learn.model.statistics import Activity, TokenEconomics
from kiro_learn.ports.storage.answers import RecordPage, SearchParams


class RecordReads(Protocol):
    """Reads of live records."""

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        """The records of these ids, in this order; unknown and damaged ones are left out."""

    async def find_record_ids(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        """The ids of a project's live records that end with ``ending``, at most ``limit`` of them, the newest first."""

    async def find_successors(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        """The live records of a project that replaced one whose id ends with ``ending``, directly or not; at most
        ``limit``, by id. A whole id is an ending, too.
        """

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        """``limit`` live records from ``offset`` on, newest first; of all projects if ``namespace`` is None."""

    async def list_damaged(self) -> tuple[str, ...]:
        """Ids of the unreadable rows that reads have met since the store was opened. Reads go on without them."""


class RecordWrites(Protocol):
    """Writing new records, and forgetting records."""

    def put_memory_record(self, record: MemoryRecord) -> None:
        """Keep ``record``. It is found by its words at once, and by its meaning once it has a vector.

        Raises:
          DuplicateRecord: its id is known, even if only as that of a replaced record.
        """

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """Forget records with all that they replaced, directly or not, and parked ones that say the same. Records that
        replaced them stay. Returns how many existed.
        """

    def withdraw_memory_records(self, records: Sequence[MemoryRecord]) -> None:
        """Remove live records without noting that they were forgotten: the person who shared them took them back, and
        may share them again. ``erase_forgotten`` overwrites what is left of them.
        """

    def is_forgotten(self, record: MemoryRecord) -> bool:
        """Whether a record of the same project was forgotten that cited one of its events, or said the same words."""

    def has_forgotten(self, namespace: Namespace | None, event_ids: Iterable[EventId]) -> bool:
        """Whether a record was forgotten that cited one of these events; without a namespace, of any project."""


class HistoryReads(Protocol):
    """Reads of the replacements of records."""

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record, the latest first: the one that made it, those that made the records it
        replaced, and so on. Empty if it replaced nothing or does not exist. A replaced record has a history of its own.
        """


class HistoryWrites(Protocol):
    """Replacing records, and undoing a replacement."""

    def replace_memory_records(self, replacement: Replacement) -> None:
        """Hide ``replacement.replaced`` from searches, lists, counts and vectors, but keep these records.

        Only the ids in ``replaced`` count: the stored records are kept, with their vectors. ``replacing`` were put just
        before, in the same work; undoing the replacement deletes them. If a replaced record is pinned, all new ones are
        pinned, as of the time at which the first of those was.

        Raises:
          UnknownRecord: one of ``replaced`` or ``replacing`` does not exist (any more), or is of another project.
          InvalidRequest: the replacement's id is known; or one of ``replacing`` is among ``replaced``, or was made
            by another replacement.
        """

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        """Undo the replacement that made ``record_id``: delete the new records, and restore the replaced ones. A
        replaced record stays deleted if its words were forgotten with one of its events.

        Raises:
          UnknownRecord: there is no such record.
          NothingToUndo: the record replaced nothing.
          ReplacedSince: a record of the same replacement was replaced itself; ``replaced_by`` has to be
            undone first.
        """


@attrs.frozen(kw_only=True)
class SyntaxSearch:
    """A search by an expression of FTS5 in one namespace."""

    namespace: Namespace
    expression: str
    """The expression that ``retrieval.query.syntax.compile_query`` made."""
    limit: int
    filter: RecordFilter = EVERYTHING
    is_any_enough: bool = False
    """Whether any matches will do, without order and scores: the search ends sooner if many records match."""


@attrs.frozen
class SyntaxRanking:
    """The matches, best first; ties by newest, then by id."""

    hits: tuple[Hit, ...]
    """``score``: bm25 negated, higher is better."""
    is_index_damaged: bool = False
    """Whether the index of words cannot be read; then there are no hits."""


Place: TypeAlias = tuple[datetime, RecordId]
"""The place of a record in a list: when it was made, and its id."""


@attrs.frozen(kw_only=True)
class RecordQuery:
    """A slice of the records, newest first."""

    namespace: Namespace | None
    """None: all projects; then ``only_knowledge`` has no effect."""
    limit: int
    filter: RecordFilter = EVERYTHING
    before: Place | None = None
    """Only records that come after this place in the list."""
    only_knowledge: bool = False


class ObservationWrites(Protocol):
    """Writes about observations in one piece of work. All of them are kept, or none."""

    def list_alike(
        self, namespace: Namespace, content_hash: str, *, after: datetime, before: datetime, limit: int
    ) -> list[CapturedRecord]:
        """The newest records with this content hash that were made between these moments (exclusive), newest first.
        Damaged ones are left out.
        """

    def put_file_digests(self, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
        """Note for each record the SHA-256 of files that it cites, by path, in place of what was noted before.

        A record that is gone is ignored. The digests are deleted with their record, also when it is replaced.
        """

    def note_merged(self, namespace: Namespace, branch: str) -> None:
        """Note that records of ``branch``, live or replaced, hold without that branch from now on."""

    def set_stale(self, record_ids: Sequence[RecordId], at: datetime | None) -> None:
        """Note when it was seen that files which these records cite have changed; None: the files are as they were."""

    def set_pinned(self, record_ids: Sequence[RecordId], at: datetime | None) -> int:
        """Pin these live records if they are not pinned yet; None: unpin them. Returns how many changed."""


class ObservationReads(Protocol):
    """Reads of observations, and of learned records in the same way."""

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        """The records of exactly this namespace that match, ranked by bm25 within this namespace."""

    async def get_knowledge_ids(self, record_ids: Collection[RecordId]) -> frozenset[RecordId]:
        """Which of these records are knowledge."""

    async def get_fitting_ids(self, record_ids: Collection[RecordId], wanted: RecordFilter) -> frozenset[RecordId]:
        """Which of these records ``wanted`` fits; their texts are not read."""

    async def list_open_branches(self, namespace: Namespace) -> dict[str, datetime]:
        """The branches that live records name, and when the first record of each was made."""

    async def get_file_digests(self, record_ids: Collection[RecordId]) -> dict[RecordId, dict[str, str]]:
        """The digests that ``put_file_digests`` noted; a record without any is left out."""

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        """The newest records that fit the query; damaged ones are left out."""

    async def list_rules_first(self, namespace: Namespace, *, limit: int, offset: int) -> list[MemoryRecord]:
        """Records of knowledge: hard constraints, other constraints, then all others, each newest first. Damaged ones
        are left out.
        """

    async def list_records_after(self, namespace: Namespace, place: Place, *, limit: int) -> list[MemoryRecord]:
        """The oldest records that were made after ``place``, oldest first; damaged ones are left out."""

    async def get_checkpoint(self, namespace: Namespace, session_id: str | None) -> MemoryRecord | None:
        """The newest checkpoint of a session, or of the whole project."""

    async def get_activity(self, namespace: Namespace, *, since: datetime) -> Activity:
        """Counts of the records of this namespace; counts by day begin at ``since`` (UTC)."""

    async def get_token_economics(self, namespace: Namespace) -> TokenEconomics:
        """Sums over all that the sessions of this namespace were told; 0 if they were told nothing."""


class WordReads(Protocol):
    """Reads for the ranking by words."""

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        """Records of exactly this namespace that share a term with the query, ranked by bm25 within this namespace.

        A query without a term finds nothing. If the full-text index refuses a query, or is damaged, the records are
        searched without it: those that contain a term, ranked by inverse document frequencies.
        """

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """The features that a ranking weighs besides scores, for each of these records; unknown ones are left out."""


class WordWrites(Protocol):
    """Rebuilding an index of words."""

    def rebuild_words(self, namespace: Namespace, *, after: int, most: int) -> int | None:
        """Build the index of a project's words again, for at most ``most`` records at a time.

        Args:
          after: 0 to begin, which empties the index; then the value that the last call returned.

        Returns:
          The ``after`` of the next call, or None when every record is in the index. Until then, words are
          searched without it.
        """
