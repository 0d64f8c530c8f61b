"""Search by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import RankingFeatures
from kiro_learn.ports.storage.answers import LexicalRanking, SearchParams


class WordReads(Protocol):
    """Reads for the ranking by words."""

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        """Records of exactly this namespace that share a term with the query, by bm25 within this namespace.

        A query without a term finds nothing. One that the full-text index refuses is looked for without it: what
        contains its terms, by their inverse document frequencies. So is every query while the index is damaged.
        """
        ...

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """What a ranking weighs beside scores, for each of these records; unknown ones are left out."""
        ...


class WordWrites(Protocol):
    """Rebuilding an index of words."""

    def rebuild_words(self, namespace: Namespace, *, after: int, most: int) -> int | None:
        """Make the index of a project's words anew, of at most ``most`` records at a time.

        Args:
          after: 0 to begin, which empties the index; then what the call before returned.

        Returns:
          Where to go on, or None when every record is in the index. Until then, words are found without it.
        """
        ...
