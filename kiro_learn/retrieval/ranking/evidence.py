"""What the rankings of one search found, by the way of finding: what fusion and confidence weigh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, cast

from kiro_learn.model.retrieval import Hit, Ranking
from kiro_learn.retrieval.ranking.vector_index import VectorRanking
from kiro_learn.retrieval.ranking.word_ranking import WordRanking


class Evidence(Protocol):
    """What one ranking found, as a frozen attrs class; each sort of ranking adds what its scores are worth."""

    @property
    def hits(self) -> Sequence[Hit]:
        """Best first; scores compare within one ranking only."""
        ...


Found: TypeAlias = Mapping[Ranking, Evidence]
"""In the order in which the retrievers are listed."""


def words_of(found: Found) -> WordRanking:
    """What the word retriever found."""
    return cast("WordRanking", found[Ranking.WORDS])


def vectors_of(found: Found) -> VectorRanking:
    """What the vector retriever found."""
    return cast("VectorRanking", found[Ranking.MEANING])
