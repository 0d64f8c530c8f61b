from __future__ import annotations

import numpy as np

from kiro_learn.retrieval.ranking.bm25 import COLUMN_BITS, DOCUMENT_BITS, Phrase, PostingList, neighbor_scores

EVERYWHERE = (1, 2, 3, 4)


def word(*places: tuple[int, int], column: int = 0, length: int = 1) -> Phrase:
    """A word that adds 1 to a document where it stands near, at these (document, place)."""
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
