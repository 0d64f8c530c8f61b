from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.retrieval.ranking.bm25 import DOCUMENT_BITS, Occurrences, best, norms
from kiro_learn.retrieval.ranking.neighbors import Phrase, neighbor_scores

DOCUMENTS, PLACES = 12, 8

places = st.tuples(st.integers(1, DOCUMENTS), st.integers(0, PLACES))
phrases = st.builds(
    lambda idf, keys, length: Phrase(
        idf,
        Occurrences.of(np.array(sorted(number << DOCUMENT_BITS | place for number, place in keys), np.int64)),
        length,
    ),
    st.sampled_from([1e-6, 0.3, 1.0, 4.0]),
    st.sets(places, max_size=40),
    st.integers(0, 2),
)


@given(query=st.lists(phrases, min_size=2, max_size=6), limit=st.integers(1, 5), distance=st.integers(0, 2))
def test_pruning_changes_nothing(query: list[Phrase], limit: int, distance: int) -> None:
    """A search that leaves out what cannot reach the top answers exactly as one that compares everything."""
    lengths = np.arange(PLACES, PLACES + DOCUMENTS + 1, dtype=np.int32)

    def answer(worth_pruning: int) -> dict[int, float]:
        scores = neighbor_scores(
            query, norms(lengths, average=12.0), distance=distance, limit=limit, worth_pruning=worth_pruning
        )
        return {number: float(scores[number]) for number in best(scores, limit).tolist()}

    assert answer(worth_pruning=0) == answer(worth_pruning=10**9)
