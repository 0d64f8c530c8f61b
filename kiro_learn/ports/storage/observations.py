"""The part of the store's contract that direct observations, and searches by their types, stand on."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import attrs

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter


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


class ObservationWrites(Protocol):
    """What one piece of writing may do about observations. All of it is kept, or none."""

    def find_duplicate(
        self, namespace: Namespace, content_hash: str, *, after: datetime, before: datetime
    ) -> RecordId | None:
        """The newest record with this content hash that was made between these moments, both exclusive."""
        ...


class ObservationReads(Protocol):
    """What may be asked about observations, and about learned records alike."""

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        """The records of exactly this namespace that match, by bm25 within this namespace."""
        ...
