"""The part of the store's contract that direct observations, and searches by their types, stand on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.direct_capture import CapturedRecord
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.model.statistics import Activity, Session, TokenEconomics


@attrs.frozen(kw_only=True)
class SyntaxSearch:
    """A search by an expression of FTS5 in one namespace."""

    namespace: Namespace
    expression: str
    """As ``retrieval.query.syntax.compile_query`` made it."""
    limit: int
    filter: RecordFilter = EVERYTHING


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
    """A slice of one namespace's records, newest first."""

    namespace: Namespace
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
        ...

    def put_file_digests(self, digests: Mapping[RecordId, Mapping[str, str]]) -> None:
        """Note for each record the SHA-256 of files that it cites, by path, in place of what was noted before.

        A record that is gone is left out. They go with their record, also when it is replaced.
        """
        ...

    def set_stale(self, record_ids: Sequence[RecordId], at: datetime | None) -> None:
        """Note since when files that these records cite are known to have changed; None: they are as they were."""
        ...


class ObservationReads(Protocol):
    """What may be asked about observations, and about learned records alike."""

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        """The records of exactly this namespace that match, by bm25 within this namespace."""
        ...

    async def get_knowledge_ids(self, record_ids: Collection[RecordId]) -> frozenset[RecordId]:
        """Those of these records that are knowledge."""
        ...

    async def get_fitting_ids(self, record_ids: Collection[RecordId], wanted: RecordFilter) -> frozenset[RecordId]:
        """Those of these records that ``wanted`` fits, without reading what they say."""
        ...

    async def get_file_digests(self, record_ids: Collection[RecordId]) -> dict[RecordId, dict[str, str]]:
        """What ``put_file_digests`` noted; a record without any is left out."""
        ...

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        """The newest that fit; damaged ones are left out."""
        ...

    async def list_rules_first(self, namespace: Namespace, *, limit: int, offset: int) -> list[MemoryRecord]:
        """Knowledge: hard constraints, other constraints, then all else, each newest first; damaged ones are left
        out.
        """
        ...

    async def list_records_after(self, namespace: Namespace, place: Place, *, limit: int) -> list[MemoryRecord]:
        """The oldest of those that were made after ``place``, oldest first; damaged ones are left out."""
        ...

    async def get_checkpoint(self, namespace: Namespace, session_id: str | None) -> MemoryRecord | None:
        """The newest checkpoint of a session, or of the whole project."""
        ...

    async def list_sessions(self, namespace: Namespace, *, limit: int) -> list[Session]:
        """Those that reported something last, the last first; an event that is a session of its own is none."""
        ...

    async def get_activity(self, namespace: Namespace, *, since: datetime) -> Activity:
        """Counts of the records of this namespace; ``since`` (UTC) bounds those that are counted by day."""
        ...

    async def get_token_economics(self, namespace: Namespace) -> TokenEconomics:
        """Sums over what the sessions of this namespace were told; all 0 if that is nothing."""
        ...
