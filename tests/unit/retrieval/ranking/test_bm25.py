from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.retrieval.ranking.bm25 import (
    COLUMN_BITS,
    DOCUMENT_BITS,
    NOWHERE,
    Occurrences,
    best,
    bm25,
    close_together,
    norms,
    phrase,
)


def standing(*places: tuple[int, int], column: int = 0) -> Occurrences:
    """A word at these (document, place)."""
    keys = [document << DOCUMENT_BITS | column << COLUMN_BITS | place for document, place in places]
    return Occurrences.of(np.array(keys, np.int64))


def where(found: Occurrences) -> list[tuple[int, int]]:
    return list(zip(np.repeat(found.documents, found.counts).tolist(), found.places.tolist(), strict=True))


def test_occurrences_tell_documents_counts_and_places() -> None:
    found = standing((1, 4), (1, 7), (3, 0))
    assert (found.documents.tolist(), found.counts.tolist()) == ([1, 3], [2, 1])
    assert where(found) == [(1, 4), (1, 7), (3, 0)]
    assert where(found.only(np.array([True, False, True, True]))) == [(3, 0)]
    assert where(found.followed_by(standing((5, 2)))) == [(1, 4), (1, 7), (3, 0), (5, 2)]


def test_a_phrase_stands_where_its_words_follow_each_other() -> None:
    one, two = standing((1, 0), (1, 5), (2, 3)), standing((1, 6), (2, 9), (4, 1))
    assert where(phrase([one, two])) == [(1, 5)]
    assert phrase([one]) is one
    assert phrase([]) is NOWHERE


def test_close_together_means_so_many_words_between_on_either_side() -> None:
    one, two = standing((1, 0), (1, 20), (2, 9)), standing((1, 6), (2, 2), (3, 0))
    near, far = (close_together(one, two, lengths=(1, 1), distance=distance) for distance in (6, 5))
    assert [where(found) for found in near] == [[(1, 0), (2, 9)], [(1, 6), (2, 2)]]
    assert [where(found) for found in far] == [[(1, 0)], [(1, 6)]]


def test_words_that_share_no_document_are_never_close_together() -> None:
    for other in (standing((2, 0)), standing((4, 0)), NOWHERE):
        found = close_together(standing((1, 0), (3, 0)), other, lengths=(1, 1), distance=5)
        assert [where(each) for each in found] == [[], []]


def test_words_of_two_columns_are_never_close_together() -> None:
    first, second = close_together(standing((1, 0)), standing((1, 0), column=1), lengths=(1, 1), distance=5)
    assert where(first) == where(second) == []


def test_a_score_follows_the_formula() -> None:
    lengths = np.array([0, 10, 30], np.int32)
    scores = bm25([(1.5, standing((1, 0), (1, 1), (2, 0)))], norms(lengths, average=20.0))
    expected = [
        0,
        *(1.5 * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / 20)) for count, length in ((2, 10), (1, 30))),
    ]
    assert scores.tolist() == pytest.approx(expected)


def test_the_best_are_those_and_all_that_tie_with_the_last() -> None:
    scores = np.array([0, 3.0, 1.0, 0, 2.0, 2.0])
    assert best(scores, 2).tolist() == [1, 4, 5]
    assert best(scores, 9).tolist() == [1, 2, 4, 5]
