from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.retrieval.ranking.bm25 import (
    DOCUMENT_BITS,
    NOWHERE,
    PostingList,
    best,
    bm25,
    norms,
    phrase,
    shares,
)


def standing(*places: tuple[int, int]) -> PostingList:
    """A word at these (document, place)."""
    keys = [document << DOCUMENT_BITS | place for document, place in places]
    return PostingList.of(np.array(keys, np.int64))


def where(found: PostingList) -> list[tuple[int, int]]:
    return list(zip(np.repeat(found.documents, found.counts).tolist(), found.places.tolist(), strict=True))


def test_occurrences_tell_documents_counts_and_places() -> None:
    found = standing((1, 4), (1, 7), (3, 0))
    assert (found.documents.tolist(), found.counts.tolist()) == ([1, 3], [2, 1])
    assert where(found) == [(1, 4), (1, 7), (3, 0)]
    assert where(found.only(np.array([True, False, True, True]))) == [(3, 0)]
    later = [standing((5, 2)), standing((6, 1), (6, 3))]
    assert where(found.followed_by(later)) == [(1, 4), (1, 7), (3, 0), (5, 2), (6, 1), (6, 3)]


def test_a_phrase_stands_where_its_words_follow_each_other() -> None:
    one, two = standing((1, 0), (1, 5), (2, 3)), standing((1, 6), (2, 9), (4, 1))
    assert where(phrase([one, two])) == [(1, 5)]
    assert phrase([one]) is one
    assert phrase([]) is NOWHERE


def test_a_score_follows_the_formula() -> None:
    lengths = np.array([0, 10, 30], np.int32)
    found = standing((1, 0), (1, 1), (2, 0))
    its_norms = norms(lengths, average=20.0)[found.documents]
    scores = bm25([(found, shares(1.5, found.counts, its_norms))], len(lengths))
    expected = [
        0,
        *(1.5 * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / 20)) for count, length in ((2, 10), (1, 30))),
    ]
    assert scores.tolist() == pytest.approx(expected)


def test_the_best_are_those_and_all_that_tie_with_the_last() -> None:
    scores = np.array([0, 3.0, 1.0, 0, 2.0, 2.0])
    assert best(scores, 2).tolist() == [1, 4, 5]
    assert best(scores, 9).tolist() == [1, 2, 4, 5]


def test_a_list_takes_at_least_the_bytes_of_each_of_its_numbers() -> None:
    """What is let go when memory is short is chosen by it."""
    found = standing((1, 4), (1, 7), (3, 0))
    assert found.size_bytes == 4 * (2 + 3 + 3), "two documents, three beginnings, three places"
