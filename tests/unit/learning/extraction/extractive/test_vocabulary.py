from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.vocabulary import (
    MOST_CONCEPTS,
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
        "With `SELECT ... FOR UPDATE` we'd have to lock them in order.",
        "The query `INSERT ... ON CONFLICT DO NOTHING. VACUUM` returns no row.",
        "It runs SELECT ... FOR UPDATE on both accounts.",
        "Its statistics were empty... `postings` is large.",
        'Set `text = "Done. Next"` in the label.',
        "Use a lock, e.g. `redlock`, for it.",
    ],
)
def test_a_dot_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    "text",
    [
        ("It took a while...", "That was the index."),
        ("I looked at it ...", "The cache is full."),
        ("Run `make db.`", "Then the tests pass."),
        ("It reads `a`.", "The rest stays."),
        ("All is green now.", "`make smoke` needs a profile."),
        ("A lone ` is no code.", "So this is another sentence, with `code`."),
        ("It is SELECT ...", "\n`code` is below."),
    ],
)
def test_dots_before_a_sentence_end_one(text: tuple[str, str]) -> None:
    first, second = text
    assert sentences(f"{first} {second}") == [first, second.strip()]


def test_a_cut_at_a_sentence_leaves_code_whole() -> None:
    text = "It locks the rows first. Then `SELECT ... FOR UPDATE` waits for them, as long as it takes."
    assert cut_at_sentence(text, 60) == "It locks the rows first. Then `SELECT ... FOR UPDATE`..."


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


def test_the_names_that_come_up_most_often_come_first() -> None:
    assert concepts_in("", "retryLimit and queue_size; queue_size again, then queue_size") == (
        "queue_size",
        "retryLimit",
    )


@pytest.mark.parametrize("answer", ["tokenCache, clockSkew, authClient", "authClient, tokenCache, clockSkew"])
def test_names_that_come_up_equally_often_are_in_the_order_of_the_alphabet(answer: str) -> None:
    assert concepts_in("", answer) == ("authClient", "clockSkew", "tokenCache")


@pytest.mark.parametrize(
    ("prompt", "answer"), [("retryLimit", ""), ("", "`retryLimit`"), ("", "retryLimit, retryLimit")]
)
def test_a_name_in_the_prompt_or_in_backticks_counts_double(prompt: str, answer: str) -> None:
    assert concepts_in(prompt, f"aliasTable, {answer}") == ("retryLimit", "aliasTable")


def test_at_most_ten_names_are_kept() -> None:
    names = [f"name_{number:02}" for number in range(12)]
    assert concepts_in("", ", ".join(names)) == tuple(names[:MOST_CONCEPTS])


def test_a_call_in_backticks_is_named_without_its_parentheses_and_a_file_is_no_name() -> None:
    assert concepts_in("", "`prune()` is called by `cache_pruner.py`") == ("prune",)


def test_paths_are_told_in_order_and_once() -> None:
    text = "see ./src/b.py:12 and src/a.ts, then src/b.py:30-40; a URL such as https://x.org/c.py is none, nor is 1.5"
    assert paths_in(text) == ("src/b.py", "src/a.ts")


def test_at_most_twenty_paths_are_told() -> None:
    assert len(paths_in(" ".join(f"file{number}.py" for number in range(30)))) == 20


@pytest.mark.parametrize("text", ["Seit 1. Oktober läuft es so", "Ja: am 3. August (Debug-Logs) und am 17. September"])
def test_a_german_date_ends_no_sentence(text: str) -> None:
    assert sentences(text) == [text]
