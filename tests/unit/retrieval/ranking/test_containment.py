"""Without an index, what contains the words is ranked on the scale that the floor judges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit
from kiro_learn.retrieval.query.syntax import inverse_document_frequency
from kiro_learn.retrieval.ranking.bm25 import Contained, rank_by_containment

DAWN = datetime(2026, 1, 1, tzinfo=UTC)


def ranked(texts: list[str], *words: str, most: int = 9, limit: int = 9) -> Contained:
    given = [(Hit(RecordId(str(n)), DAWN + timedelta(seconds=n), 0.0), text) for n, text in enumerate(texts)]
    return rank_by_containment(given, words, most=most, limit=limit)


def ids(found: Contained) -> list[str]:
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
    assert ranked(["a"], "a", "b", "c", "d", "e", most=3).words == ("a", "b", "e")
    assert ranked(["a"], "a", "b", "c", most=1).words == ("a",)


def test_no_more_than_are_wanted() -> None:
    assert ids(ranked(["word"] * 5, "word", limit=2)) == ["4", "3"]
    assert ranked([], "word") == Contained((), inverse_document_frequency(0, 0), ("word",))
