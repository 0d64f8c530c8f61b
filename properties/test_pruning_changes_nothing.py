from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.retrieval.ranking.bm25 import (
    COLUMN_BITS,
    DOCUMENT_BITS,
    K1,
    B,
    Phrase,
    PostingList,
    best,
    neighbor_scores,
    norms,
    shares,
)

DOCUMENTS, PLACES, AVERAGE = 12, 8, 12.0
LENGTHS = np.arange(PLACES, PLACES + DOCUMENTS + 1, dtype=np.int32)


@attrs.frozen
class Word:
    idf: float
    keys: frozenset[tuple[int, int]]
    """Each occurrence: (document, place with its column)."""
    length: int

    def phrase(self) -> Phrase:
        keys = sorted(number << DOCUMENT_BITS | place for number, place in self.keys)
        found = PostingList.of(np.array(keys, np.int64))
        its_norms = norms(LENGTHS, average=AVERAGE)[found.documents]
        return Phrase(self.idf, found, shares(self.idf, found.counts, its_norms), self.length)


places = st.builds(lambda column, place: column << COLUMN_BITS | place, st.integers(0, 1), st.integers(0, PLACES))
words = st.builds(
    Word,
    st.sampled_from([1e-6, 0.3, 1.0, 4.0]),
    st.frozensets(st.tuples(st.integers(1, DOCUMENTS), places), max_size=40),
    st.integers(0, 2),
)


def score_of(query: Sequence[Word], number: int, distance: int) -> float:
    """The score of one document, by its definition."""
    score = 0.0
    norm = K1 * (1 - B + B * float(LENGTHS[number]) / AVERAGE)
    for one, two in pairwise(query):
        ones, twos = ([place for where, place in word.keys if where == number] for word in (one, two))
        near_one = [p for p in ones if any(-two.length - distance <= q - p <= one.length + distance for q in twos)]
        near_two = [q for q in twos if any(-two.length - distance <= q - p <= one.length + distance for p in ones)]
        for word, count in ((one, len(near_one)), (two, len(near_two))):
            score += word.idf * (count * (K1 + 1.0) / (count + norm))
    return score


@given(
    query=st.lists(words, min_size=1, max_size=6),
    compared=st.frozensets(st.integers(1, DOCUMENTS)).map(sorted),
    distance=st.integers(0, 2),
)
def test_pairs_score_alike_whichever_documents_are_compared(
    query: list[Word], compared: list[int], distance: int
) -> None:
    """Each query gives the same as alone, to the last bit."""
    documents = np.array(compared, np.int32)
    its_norms = norms(LENGTHS, average=AVERAGE).take(documents)
    found = neighbor_scores([word.phrase() for word in query], documents, its_norms, distance=distance)
    assert found.tolist() == [score_of(query, number, distance) for number in compared]


@given(
    scores=st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 7.0]), max_size=120), limit=st.integers(1, 8)
)
def test_the_best_are_found_without_sorting(scores: list[float], limit: int) -> None:
    """The result is that of looking at each one: ties with the last one are found too."""
    ordered = sorted(filter(None, scores), reverse=True)
    least = ordered[limit - 1] if len(ordered) >= limit else 0.0
    expected = [number for number, score in enumerate(scores) if score and score >= least]
    assert best(np.array(scores), limit).tolist() == expected
