from __future__ import annotations

from kiro_learn.retrieval.query.pruning import needed, rarest

FREQUENCIES = {"everywhere": 80, "unseen": 0, "rare": 1, "common": 40, "middling": 10}


def test_the_rarest_are_as_many_as_the_records_allow_but_at_least_one() -> None:
    assert rarest(FREQUENCIES, most_records=0) == ("rare",)
    assert rarest(FREQUENCIES, most_records=11) == ("rare", "middling")
    assert rarest({"unseen": 0}, most_records=9) == ()


def test_nothing_is_spared_without_a_score_to_beat() -> None:
    assert needed(FREQUENCIES, 100, threshold=0.0) == ("rare", "middling", "common", "everywhere")


def test_a_word_that_weighs_nothing_is_spared_first() -> None:
    assert needed(FREQUENCIES, 100, threshold=0.5) == ("rare", "middling", "common")


def test_words_that_cannot_reach_the_score_together_are_spared_together() -> None:
    """2.2 times the idfs of common (0.4) and everywhere (1e-6) is 0.9; with middling (2.2) it is 5.6."""
    assert needed(FREQUENCIES, 100, threshold=1.0) == ("rare", "middling")
    assert needed(FREQUENCIES, 100, threshold=100.0) == ()
