from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from kiro_learn.adapters.sqlite.search import WordIndexes
from kiro_learn.adapters.sqlite.word_index import Arrivals, Totals
from kiro_learn.adapters.sqlite.word_reads import WordReads
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.retrieval.ranking.bm25 import Counts

MINE, YOURS, THEIRS = (namespace_of("test", letter * 64) for letter in "abc")
TOTALS = Totals(last_number=2, documents=2, tokens=6)


class CountedReads:
    """Reads of documents with three words each. It counts the reads of their lengths."""

    def __init__(self) -> None:
        self.count = 0
        self.during: Callable[[], None] = lambda: None

    def lengths(self, totals: Totals) -> Counts:
        self.count += 1
        self.during()
        return np.array([0, *[3] * totals.last_number], np.int32)

    def arrivals(self, _after: int, _last_number: int) -> Arrivals:
        return {}


def asked(indexes: WordIndexes, *namespaces: Namespace, totals: Totals = TOTALS) -> int:
    """How many of the namespaces' indexes had to be read."""
    reads = CountedReads()
    for namespace in namespaces:
        indexes.index_at(namespace, totals, cast("WordReads", reads))
    return reads.count


def test_an_index_is_read_once() -> None:
    indexes = WordIndexes()
    assert [asked(indexes, MINE), asked(indexes, MINE, MINE)] == [1, 0]


def test_an_index_is_that_of_the_state_that_is_read() -> None:
    indexes = WordIndexes()
    reads = cast("WordReads", CountedReads())
    later = Totals(last_number=3, documents=2, tokens=6)
    first = indexes.index_at(MINE, TOTALS, reads)
    assert indexes.index_at(MINE, TOTALS, reads) is first
    assert indexes.index_at(MINE, later, reads).totals == later


def test_the_namespaces_searched_longest_ago_make_room() -> None:
    probe = WordIndexes().index_at(MINE, TOTALS, cast("WordReads", CountedReads()))
    indexes = WordIndexes(most_bytes=2 * probe.size_bytes)
    assert asked(indexes, MINE, YOURS, MINE, THEIRS) == 3
    assert asked(indexes, MINE, THEIRS) == 0
    assert asked(indexes, YOURS) == 1


def test_the_namespace_in_use_is_kept_whatever_its_size() -> None:
    indexes = WordIndexes(most_bytes=1)
    assert asked(indexes, MINE, MINE, YOURS, YOURS) == 2


def test_a_doubt_has_the_lengths_read_again_once() -> None:
    indexes = WordIndexes()
    asked(indexes, MINE)
    indexes.doubt(MINE)
    assert [asked(indexes, MINE), asked(indexes, MINE)] == [1, 0]


def test_a_doubt_that_arises_while_the_index_is_read_outlives_that() -> None:
    indexes = WordIndexes()
    reads = CountedReads()
    reads.during = lambda: indexes.doubt(MINE)
    indexes.index_at(MINE, TOTALS, cast("WordReads", reads))
    assert [asked(indexes, MINE), asked(indexes, MINE)] == [1, 0]
