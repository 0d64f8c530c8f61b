"""Memory records: kept, read, listed, found by words and forgotten; which replaced which; and what observations, and
searches below /api, need.
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
        """The records of these ids, in this order; unknown ones are left out, and damaged ones."""

    async def find_record_ids(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        """The ids of a project's live records that end so, at most ``limit`` of them, the newest first."""

    async def find_successors(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        """Those of a project, ``limit`` at most, that stand for a replaced one whose id ends so, in the order of their
        ids. A whole id is an end of itself.
        """

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        """``limit`` live records from ``offset`` on, newest first; of all projects if ``namespace`` is None."""

    async def list_damaged(self) -> tuple[str, ...]:
        """Ids of the rows that cannot be read, as far as a read has met them since the store was opened. Every read
        goes on without them.
        """


class RecordWrites(Protocol):
    """Writes of new records, and forgetting."""

    def put_memory_record(self, record: MemoryRecord) -> None:
        """Keep ``record``, findable by its words at once and by its meaning once it has a vector.

        Raises:
          DuplicateRecord: its id is known, be it as one that was replaced.
        """

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """Forget records with whatever they replaced, directly or not, and parked ones that say the same; what replaced
        them stays. Returns how many there were.
        """

    def withdraw_memory_records(self, records: Sequence[MemoryRecord]) -> None:
        """Remove those that are live, and do not note that they were forgotten: whoever shared them took them back, and
        may share them again. ``erase_forgotten`` overwrites what is left of them.
        """

    def is_forgotten(self, record: MemoryRecord) -> bool:
        """Whether a record of the same project was forgotten that cited one of its events, or said the same words."""

    def has_forgotten(self, namespace: Namespace | None, event_ids: Iterable[EventId]) -> bool:
        """Whether a record was forgotten that cited one of these events; without a namespace, of any project."""


class HistoryReads(Protocol):
    """Reads of replacements."""

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record: the one that brought it, then those that brought what it replaced,
        and so on; the last that was made first. Empty if it replaced nothing, or is not there; one that was replaced
        has a history of its own.
        """


class HistoryWrites(Protocol):
    """Replacing records, and undoing a replacement."""

    def replace_memory_records(self, replacement: Replacement) -> None:
        """Take ``replacement.replaced`` out of all that search, lists, counts and vectors see, and keep them.

        Of ``replaced`` only the ids count: what is kept is what is stored, vector and all. ``replacing`` were put just
        before, in the same work: undoing it forgets them. If one that goes is pinned, all that come are pinned, since
        the first of those was.

        Raises:
          UnknownRecord: one of ``replaced`` or ``replacing`` is not there (any more), or of another project.
          InvalidRequest: the replacement's id is known; or one of ``replacing`` is among ``replaced``, or came with
            another replacement.
        """

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        """Undo the replacement that brought ``record_id``: new records are deleted, replaced ones restored, except one
        whose words were forgotten with one of its events.

        Raises:
          UnknownRecord: there is no such record.
          NothingToUndo: it replaced nothing.
          ReplacedSince: a record that came with it was replaced itself; its ``replaced_by`` can be undone, and is to be
            first.
        """


@attrs.frozen(kw_only=True)
class SyntaxSearch:
    """A search by an expression of FTS5 in one namespace."""

    namespace: Namespace
    expression: str
    """As ``retrieval.query.syntax.compile_query`` made it."""
    limit: int
    filter: RecordFilter = EVERYTHING
    is_any_enough: bool = False
    """Which of those that match is no matter, nor their order and scores: that ends sooner where many do."""


@attrs.frozen
class SyntaxRanking:
    """What matches, best first; ties by newest, then by id."""

    hits: tuple[Hit, ...]
    """``score``: bm25 negated, higher is better."""
    is_index_damaged: bool = False
    """The index of words cannot be read; then there are no hits."""


Place: TypeAlias = tuple[datetime, RecordId]
"""Where a record stands in a list: when it was made, and its id."""


@attrs.frozen(kw_only=True)
class RecordQuery:
    """A slice of the records, newest first."""

    namespace: Namespace | None
    """None: of all projects; then ``only_knowledge`` does not count."""
    limit: int
    filter: RecordFilter = EVERYTHING
    before: Place | None = None
    """Only those that come after this place in the list."""
    only_knowledge: bool = False


class ObservationWrites(Protocol):
    """What one piece of writing may do about observations. All of it is kept, or none."""

    def list_alike(
        self, namespace: Namespace, content_hash: str, *, after: datetime, before: datetime, limit: int
    ) -> list[CapturedRecord]:
        """The newest records with this content hash that were made between these moments, both exclusive; newest first.
        Damaged ones are left out.
        """

    def put_file_digests(self, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
        """Note for each record the SHA-256 of files that it cites, by path, in place of what was noted before.

        A record that is gone is left out. They go with their record, also when it is replaced.
        """

    def note_merged(self, namespace: Namespace, branch: str) -> None:
        """What was learned on ``branch`` holds without it from now on, live or replaced."""

    def set_stale(self, record_ids: Sequence[RecordId], at: datetime | None) -> None:
        """Note since when files that these records cite are known to have changed; None: they are as they were."""

    def set_pinned(self, record_ids: Sequence[RecordId], at: datetime | None) -> int:
        """Pin those of these live records that are not pinned yet; None: those that are pinned are no longer. Returns
        how many changed.
        """


class ObservationReads(Protocol):
    """What may be asked about observations, and about learned records alike."""

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        """The records of exactly this namespace that match, by bm25 within this namespace."""

    async def get_knowledge_ids(self, record_ids: Collection[RecordId]) -> frozenset[RecordId]:
        """Those of these records that are knowledge."""

    async def get_fitting_ids(self, record_ids: Collection[RecordId], wanted: RecordFilter) -> frozenset[RecordId]:
        """Those of these records that ``wanted`` fits, without reading what they say."""

    async def list_open_branches(self, namespace: Namespace) -> dict[str, datetime]:
        """The branches that live records name, and when the first record of each was made."""

    async def get_file_digests(self, record_ids: Collection[RecordId]) -> dict[RecordId, dict[str, str]]:
        """What ``put_file_digests`` noted; a record without any is left out."""

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        """The newest that fit; damaged ones are left out."""

    async def list_rules_first(self, namespace: Namespace, *, limit: int, offset: int) -> list[MemoryRecord]:
        """Knowledge: hard constraints, other constraints, then all else, each newest first; damaged ones are left
        out.
        """

    async def list_records_after(self, namespace: Namespace, place: Place, *, limit: int) -> list[MemoryRecord]:
        """The oldest of those that were made after ``place``, oldest first; damaged ones are left out."""

    async def get_checkpoint(self, namespace: Namespace, session_id: str | None) -> MemoryRecord | None:
        """The newest checkpoint of a session, or of the whole project."""

    async def get_activity(self, namespace: Namespace, *, since: datetime) -> Activity:
        """Counts of the records of this namespace; ``since`` (UTC) bounds those that are counted by day."""

    async def get_token_economics(self, namespace: Namespace) -> TokenEconomics:
        """Sums over what the sessions of this namespace were told; all 0 if that is nothing."""


class WordReads(Protocol):
    """Reads for the ranking by words."""

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        """Records of exactly this namespace that share a term with the query, by bm25 within this namespace.

        A query without a term finds nothing. One that the full-text index refuses is looked for without it: what
        contains its terms, by their inverse document frequencies. So is every query while the index is damaged.
        """

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """What a ranking weighs beside scores, for each of these records; unknown ones are left out."""


class WordWrites(Protocol):
    """Rebuilding an index of words."""

    def rebuild_words(self, namespace: Namespace, *, after: int, most: int) -> int | None:
        """Make the index of a project's words anew, of at most ``most`` records at a time.

        Args:
          after: 0 to begin, which empties the index; then what the call before returned.

        Returns:
          Where to go on, or None when every record is in the index. Until then, words are found without it.
        """
