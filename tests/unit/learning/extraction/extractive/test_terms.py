from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.vocabulary import MOST_CONCEPTS, concepts_in, paths_in


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
