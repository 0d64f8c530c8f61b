"""What ranking needs of a search by words, whichever store did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kiro_learn.model.retrieval import Hit


class WordRanking(Protocol):
    """Records that share words with a query, best first."""

    @property
    def hits(self) -> Sequence[Hit]:
        """``score``: bm25 negated, higher is better."""
        ...

    @property
    def ideal_score(self) -> float:
        """What a record with every word of the query would score."""
        ...

    @property
    def terms(self) -> Sequence[str]:
        """The query's words that were looked up."""
        ...

    @property
    def neighbors(self) -> Sequence[Hit]:
        """Records in which some of these words stand close together, best first."""
        ...
