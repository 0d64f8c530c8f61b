from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.vocabulary import (
    concepts_in,
    cut_at_sentence,
    cut_at_word,
    overlap,
    paths_in,
    sentences,
    words,
)


def test_a_text_falls_into_its_sentences() -> None:
    assert sentences("It fails. Why? Because `x` is nil!\nNew line") == [
        "It fails.",
        "Why?",
        "Because `x` is nil!",
        "New line",
    ]


@pytest.mark.parametrize(
    "whole",
    [
        "Use a lock, e.g. Redis, for it.",
        "Set v1.2.3 in go.mod first.",
        "See config.toml for more",
        "1. Rename the file",
    ],
)
def test_a_dot_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert sentences(whole) == [whole]


def test_scripts_without_spaces_have_sentences_and_words() -> None:
    assert sentences("\u8fd9\u662f\u4e00\u3002\u8fd9\u662f\u4e8c\u3002") == [
        "\u8fd9\u662f\u4e00\u3002",
        "\u8fd9\u662f\u4e8c\u3002",
    ]
    assert len(words("\u6570\u636e\u5e93\u8fde\u63a5\u5931\u8d25")) > 2


def test_a_cut_ends_with_a_whole_word() -> None:
    assert cut_at_word("the quick brown fox jumps", 15) == "the quick..."


def test_a_cut_of_one_long_word_still_fits() -> None:
    assert len(cut_at_word("x" * 100, 20)) == 20


def test_sentences_that_fit_are_preferred_to_a_cut_one() -> None:
    assert cut_at_sentence("One is here. Two is here. Three is long.", 30) == "One is here. Two is here."


def test_overlap_is_the_share_of_words_already_said() -> None:
    assert overlap("a b c d", {"a", "b"}) == 0.5
    assert overlap("...", set()) == 1.0


def test_identifiers_named_most_often_are_concepts() -> None:
    concepts = concepts_in(
        "why does parse_url fail?", "`parse_url` calls `URLParser` with parse_url flags. HTTP is fine."
    )
    assert concepts == ("parse_url", "URLParser")


def test_paths_are_found_with_and_without_line_numbers() -> None:
    text = "See `src/app/pay.py:12`, ./Makefile.am, config.toml and https://example.org/a.html; not v1.2 or e.g. this."
    assert paths_in(text) == ("src/app/pay.py", "config.toml")
