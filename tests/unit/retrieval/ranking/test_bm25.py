"""Without an index, texts that contain the words are scored on the scale that the floor uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, LexicalRanking
from kiro_learn.retrieval.query.syntax import inverse_document_frequency
from kiro_learn.retrieval.ranking.bm25 import (
    COLUMN_BITS,
    DOCUMENT_BITS,
    NOWHERE,
    Phrase,
    PostingList,
    best,
    bm25,
    neighbor_scores,
    norms,
    phrase,
    rank_by_containment,
    shares,
    word_shares,
)


def standing(*places: tuple[int, int]) -> PostingList:
    """The posting list of a word that stands at each (document, place)."""
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
    """The size decides which lists are dropped when memory is short."""
    found = standing((1, 4), (1, 7), (3, 0))
    assert found.size_bytes == 4 * (2 + 3 + 3), "two documents, three beginnings, three places"


DAWN = datetime(2026, 1, 1, tzinfo=UTC)


def ranked(texts: list[str], *words: str, most: int = 9, limit: int = 9) -> LexicalRanking:
    given = [(Hit(RecordId(str(n)), DAWN + timedelta(seconds=n), 0.0), text) for n, text in enumerate(texts)]
    return rank_by_containment(given, words, most=most, limit=limit)


def ids(found: LexicalRanking) -> list[str]:
    return [hit.record_id for hit in found.hits]


def test_more_and_rarer_words_rank_higher() -> None:
    found = ranked(["common", "Common rare", "RARE", *["other"] * 6], "common", "Rare")

    assert ids(found) == ["1", "2", "0"], "of two that are alike the newer comes first"
    assert found.hits[0].score == found.ideal_score == 2 * inverse_document_frequency(2, 9)


def test_a_word_that_nothing_contains_counts_the_most_in_the_ideal() -> None:
    found = ranked(["seen", *["other"] * 4], "seen", "unseen")

    assert found.ideal_score == inverse_document_frequency(1, 5) + inverse_document_frequency(0, 5)
    assert found.hits[0].score / found.ideal_score < 0.5


def test_of_too_many_words_the_ends_are_looked_for() -> None:
    assert ranked(["a"], "a", "b", "c", "d", "e", most=3).terms == ("a", "b", "e")
    assert ranked(["a"], "a", "b", "c", most=1).terms == ("a",)


def test_no_more_than_are_wanted() -> None:
    assert ids(ranked(["word"] * 5, "word", limit=2)) == ["4", "3"]
    assert ranked([], "word") == LexicalRanking((), inverse_document_frequency(0, 0), ("word",))


EVERYWHERE = (1, 2, 3, 4)


def word(*places: tuple[int, int], column: int = 0, length: int = 1) -> Phrase:
    """A word at each (document, place), which adds 1 to a document in which it stands near another word."""
    keys = [document << DOCUMENT_BITS | column << COLUMN_BITS | place for document, place in places]
    found = PostingList.of(np.array(keys, np.int64))
    return Phrase(1.0, found, np.ones(len(found.documents)), length)


def scores(*query: Phrase, distance: int = 5, documents: tuple[int, ...] = EVERYWHERE) -> dict[int, float]:
    found = neighbor_scores(query, np.array(documents, np.int32), np.full(len(documents), 1.2), distance=distance)
    return {number: round(score, 9) for number, score in zip(documents, found.tolist(), strict=True) if score}


def test_close_together_means_so_many_words_between_on_either_side() -> None:
    one, two = word((1, 0), (1, 20), (2, 9)), word((1, 6), (2, 2), (3, 0))
    assert scores(one, two, distance=6) == {1: 2.0, 2: 2.0}
    assert scores(one, two, distance=5) == {1: 2.0}


def test_a_phrase_ends_with_its_last_word() -> None:
    one, two = word((1, 0), length=2), word((1, 7))
    assert scores(one, two) == {1: 2.0}
    assert scores(two, one) == {1: 2.0}
    assert scores(word((1, 0)), two) == {}


def test_words_that_share_no_document_are_never_close_together() -> None:
    for other in (word((2, 0)), word((4, 0)), word()):
        assert scores(word((1, 0), (3, 0)), other) == {}


def test_words_of_two_columns_are_never_close_together() -> None:
    assert scores(word((1, 0)), word((1, 0), column=1)) == {}


def test_a_word_alone_has_no_neighbors() -> None:
    assert scores(word((1, 0))) == scores() == {}


def test_a_word_without_tokens_forms_no_pair() -> None:
    nothing = word(length=0)
    assert scores(word((1, 0), (3, 0)), nothing) == scores(nothing, nothing) == {}


def test_only_the_documents_asked_for_are_compared() -> None:
    one, two = word((1, 0), (2, 0), (4, 0)), word((1, 1), (2, 9), (3, 0), (4, 2))
    assert scores(one, two) == {1: 2.0, 4: 2.0}
    assert scores(one, two, documents=(2, 3, 4)) == {4: 2.0}
    assert scores(one, two, documents=()) == {}


def test_a_text_with_every_word_has_all_and_one_with_none_has_nothing() -> None:
    assert word_shares(["the pool is closed", "nothing"], ["pool", "closed"]) == pytest.approx([1.0, 0.0])


def test_a_word_inside_a_longer_one_counts() -> None:
    assert word_shares(["ensureentiregitignore"], ["GitIgnore"]) == [1.0]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    rare, common, *_ = word_shares(["socket", "pool", "pool", "pool"], ["socket", "pool"])
    assert rare > common


def test_a_word_that_comes_twice_counts_once() -> None:
    assert word_shares(["pool"], ["Pool", "pool"]) == [1.0]


def test_without_words_nothing_is_shared() -> None:
    assert word_shares(["pool"], []) == [0.0]
    assert word_shares([], ["pool"]) == []
