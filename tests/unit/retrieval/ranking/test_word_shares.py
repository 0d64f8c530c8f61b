from __future__ import annotations

import pytest

from kiro_learn.retrieval.ranking.bm25 import word_shares


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
