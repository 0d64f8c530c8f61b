"""Whether anything that was found is relevant at all: silence is an answer.

The floors were set on one real history of 450 turns (docs/retrieval.md says how, and what they cannot know).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kiro_learn.retrieval.ranking.vector_index import WHOLES_TOLD, VectorRanking
from kiro_learn.retrieval.ranking.word_ranking import WordRanking

FLOOR = 0.4
"""Of ``relevance``, for cosines of all-MiniLM-L6-v2 between a question and whole records."""

FEW_RECORDS = 20
"""Below, the best record stands for itself: the second best of five is about something else."""

FLOOR_OF_FEW = 0.3
"""Of ``relevance`` among so few: the best of few unrelated records is less near by chance than the best of many."""

WORDS_FLOOR = 0.25
"""Of ``word_share``, where there is nothing else to go by. Words alone tell far less: this lets most things pass."""

WORDS_WEIGHT = 0.2
"""How much a record with all of the query's words adds to its cosine."""

RECORDS_PER_NEIGHBOR = 90
FEWEST_NEIGHBORS = 2
MOST_NEIGHBORS = WHOLES_TOLD


def is_relevant(words: WordRanking, vectors: VectorRanking) -> bool:
    """Whether the best that was found is worth an agent's attention; by words alone if there are no vectors.

    By whole records: the more windows a record has, the nearer one of them comes to any question by chance.
    """
    best_lexical = words.hits[0].score if words.hits else 0.0
    if not vectors.nearest_wholes:
        return bool(words.hits) and word_share(best_lexical, words.ideal_score) >= WORDS_FLOOR
    floor = FLOOR if vectors.count >= FEW_RECORDS else FLOOR_OF_FEW
    return relevance(vectors.nearest_wholes, best_lexical, words.ideal_score, vectors.count) >= floor


def relevance(
    similarities_best_first: Sequence[float], best_lexical: float, ideal_lexical: float, record_count: int
) -> float:
    """How near a namespace of ``record_count`` vectors comes to a query: at most 1.2, higher is nearer.

    The mean of its best cosines, since one may be near by chance, plus what the query's words add. How many are
    averaged grows with the namespace: the fifth best of forty records is far from any question.
    """
    nearest = similarities_best_first[: _neighbor_count(record_count)]
    mean = math.fsum(nearest) / len(nearest) if nearest else 0.0
    return mean + WORDS_WEIGHT * word_share(best_lexical, ideal_lexical)


def _neighbor_count(record_count: int) -> int:
    if record_count < FEW_RECORDS:
        return 1
    return min(MOST_NEIGHBORS, max(FEWEST_NEIGHBORS, record_count // RECORDS_PER_NEIGHBOR))


def word_share(best_lexical: float, ideal_lexical: float) -> float:
    """How much of the query's weight in words its best record holds, 0 to 1."""
    return min(1.0, best_lexical / ideal_lexical) if ideal_lexical > 0 else 0.0
