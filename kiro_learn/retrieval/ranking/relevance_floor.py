"""Whether anything that was found is relevant at all: silence is an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

FLOOR = 0.45

WORDS_WEIGHT = 0.2

WORDS_FLOOR = 0.25


def relevance(
    similarities_best_first: Sequence[float], best_lexical: float, ideal_lexical: float, record_count: int
) -> float:
    """How near the namespace's best records come to a query: mean cosine of the k best, plus what its words add.

    k grows with the namespace, since the tenth best of forty records is far from anything.
    """
    k = max(2, min(10, record_count // 45))
    nearest = similarities_best_first[:k]
    mean = math.fsum(nearest) / len(nearest) if nearest else 0.0
    return mean + WORDS_WEIGHT * word_relevance(best_lexical, ideal_lexical)


def word_relevance(best_lexical: float, ideal_lexical: float) -> float:
    """The share of the query's weight in rare words that its best record holds; 0 for a query without words."""
    return best_lexical / ideal_lexical if ideal_lexical > 0 else 0.0
