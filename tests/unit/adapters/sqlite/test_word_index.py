from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.adapters.sqlite.word_index import (
    BYTES_A_DOCUMENT,
    BYTES_APIECE,
    FEWEST_BYTES,
    MOST_WAITING,
    Totals,
    WordIndex,
)
from kiro_learn.adapters.sqlite.word_reads import varints
from kiro_learn.retrieval.ranking.bm25 import DOCUMENT_BITS, PostingList

BEFORE = Totals(last_number=2, documents=2, tokens=6)


def documents(*numbers: int) -> PostingList:
    return PostingList.of(np.array(numbers, np.int64) << DOCUMENT_BITS)


def refuse(_token: str) -> PostingList:
    raise AssertionError("nothing need be read")


@pytest.fixture
def index() -> WordIndex:
    index = WordIndex(BEFORE, np.array([0, 2, 4], np.int32))
    index.occurrences(("oak",), lambda _: documents(1, 2))
    index.occurrences(("elm",), lambda _: documents(2))
    return index


def test_a_word_is_read_once(index: WordIndex) -> None:
    assert index.occurrences(("oak",), refuse).documents.tolist() == [1, 2]


def test_what_arrives_is_added_to_what_is_known_and_nothing_is_read_again(index: WordIndex) -> None:
    after = Totals(last_number=4, documents=3, tokens=9)
    arrivals = {4: (("oak", "fir"), ("oak",))}
    assert index.explains(after, arrivals)
    grown = index.with_arrivals(after, arrivals)
    found = grown.occurrences(("oak",), refuse)
    assert (found.documents.tolist(), found.counts.tolist()) == ([1, 2, 4], [1, 1, 2])
    assert grown.occurrences(("elm",), refuse).documents.tolist() == [2]
    assert index.occurrences(("oak",), refuse).documents.tolist() == [1, 2]


def test_what_came_is_added_once_however_often_a_word_is_asked_for(index: WordIndex) -> None:
    for number in (3, 4, 5):
        index = index.with_arrivals(Totals(number, number, 2 * number), {number: (("oak", "elm"),)})
        for _ in range(2):
            assert index.occurrences(("oak",), refuse).documents.tolist() == list(range(1, number + 1))


def test_words_asked_for_seldom_have_all_that_came_since() -> None:
    """The documents may come in many states with few documents each, or with many."""
    index = WordIndex(BEFORE, np.array([0, 2, 4], np.int32))
    index.occurrences(("oak",), lambda _: documents(1, 2))
    index.occurrences(("oak", "elm"), lambda token: documents(1) if token == "elm" else documents(1, 2))
    expected = [1, 2]
    for number in range(3, 3 + 3 * MOST_WAITING // 2):
        words = ("oak", "elm") if number % 2 else ("fir", "elm")
        expected += [number] * (number % 2)
        index = index.with_arrivals(Totals(number, number, 2 * number), {number: (words,)})
    assert index.occurrences(("oak",), refuse).documents.tolist() == expected
    assert index.occurrences(("oak", "elm"), refuse).documents.tolist() == expected[2:]
    left = np.full(index.totals.last_number + 1, 2, np.int32)
    left[[0, expected[-1]]] = 0
    left[2] = 4
    assert index.with_lengths(index.totals, left).occurrences(("oak",), refuse).documents.tolist() == expected[:-1]


def test_arrivals_do_not_explain_that_something_went(index: WordIndex) -> None:
    assert not index.explains(Totals(last_number=3, documents=2, tokens=7), {3: (("oak",),)})


def test_what_went_is_taken_out(index: WordIndex) -> None:
    left = index.with_lengths(Totals(2, 1, 2), np.array([0, 2, 0], np.int32))
    assert left.occurrences(("oak",), refuse).documents.tolist() == [1]
    assert left.occurrences(("elm",), refuse).documents.tolist() == []


def test_what_came_back_is_read_anew(index: WordIndex) -> None:
    left = index.with_lengths(Totals(2, 1, 2), np.array([0, 2, 0], np.int32))
    back = left.with_lengths(BEFORE, np.array([0, 2, 4], np.int32))
    assert back.occurrences(("oak",), lambda _: documents(1, 2)).documents.tolist() == [1, 2]


def test_the_words_asked_for_longest_ago_make_room() -> None:
    count = FEWEST_BYTES // BYTES_A_DOCUMENT
    index = WordIndex(Totals(count, count, count), np.ones(count + 1, np.int32))
    common = documents(*range(1, count + 1))
    fitting = (FEWEST_BYTES + BYTES_A_DOCUMENT * count) // (common.size_bytes + BYTES_APIECE)
    for number in range(fitting + 1):
        index.occurrences((str(number),), lambda _: common)
        index.occurrences(("0",), lambda _: common)
    assert index.occurrences(("0",), refuse) is common
    with pytest.raises(AssertionError):
        index.occurrences(("1",), refuse)


def test_integers_of_any_length_are_read() -> None:
    raw = np.array([0, 0x7F, 0x81, 0x00, 0x83, 0x86, 0x50, 5], np.uint8)
    assert varints(raw).tolist() == [0, 127, 128, 50_000, 5]
