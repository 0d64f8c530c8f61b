from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.onnx.embedding import tokenizer as module
from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER
from kiro_learn.adapters.onnx.embedding.tokenizer import (
    MOST_WINDOWS,
    OVERLAP,
    TEXT_LIMIT,
    TOKEN_LIMIT,
    MiniLmTokenizer,
    TokenCounter,
    encodable,
)

START, END = 101, 102


@pytest.fixture(scope="module")
def tokenizer() -> MiniLmTokenizer:
    return MiniLmTokenizer(FILES / TOKENIZER)


def test_an_empty_text_is_its_two_end_marks(tokenizer: MiniLmTokenizer) -> None:
    assert tokenizer.token_ids("").tolist() == [START, END]


def test_case_does_not_matter(tokenizer: MiniLmTokenizer) -> None:
    assert tokenizer.token_ids("Fix The Parser").tolist() == tokenizer.token_ids("fix the parser").tolist()


def test_a_long_text_is_cut_and_still_ends_with_its_mark(tokenizer: MiniLmTokenizer) -> None:
    ids = tokenizer.token_ids("word " * 1000)
    assert len(ids) == TOKEN_LIMIT
    assert (ids[0], ids[-1]) == (START, END)


def test_no_text_is_padded(tokenizer: MiniLmTokenizer) -> None:
    assert len(tokenizer.token_ids("one two three")) == 5


@pytest.mark.parametrize("count", [0, 3, TOKEN_LIMIT - 2])
def test_a_text_that_the_model_reads_at_once_is_one_window(tokenizer: MiniLmTokenizer, count: int) -> None:
    text = "word " * count
    assert [ids.tolist() for ids in tokenizer.windows(text)] == [tokenizer.token_ids(text).tolist()]


@pytest.mark.parametrize("count", [TOKEN_LIMIT - 1, 476, 477, 1_000])
def test_the_windows_of_a_long_text_overlap_and_miss_nothing(tokenizer: MiniLmTokenizer, count: int) -> None:
    text = " ".join(str(number) for number in range(100, 100 + count))
    whole = MiniLmTokenizer(FILES / TOKENIZER)
    first, *others = tokenizer.windows(text)
    assert first.tolist() == whole.token_ids(text).tolist()
    tokens = first[1:-1].tolist()
    for window in others:
        assert (window[0], window[-1]) == (START, END)
        assert len(window) <= TOKEN_LIMIT
        assert window[1 : 1 + OVERLAP].tolist() == tokens[-OVERLAP:]
        tokens += window[1 + OVERLAP : -1].tolist()
    last = whole.token_ids(" ".join(text.split()[-5:]))[1:-1].tolist()
    assert tokens[-len(last) :] == last


def test_a_text_has_at_most_so_many_windows(tokenizer: MiniLmTokenizer) -> None:
    assert len(tokenizer.windows("漢" * TEXT_LIMIT)) == MOST_WINDOWS


def test_what_lies_past_the_text_limit_is_not_looked_at(tokenizer: MiniLmTokenizer) -> None:
    spaces = " " * (TEXT_LIMIT - 1)
    assert tokenizer.token_ids("a" + spaces + "b").tolist() == tokenizer.token_ids("a").tolist()


def test_lone_surrogates_become_question_marks() -> None:
    assert encodable("a\ud800b") == "a?b"
    assert encodable("naïve 漢字 🙂") == "naïve 漢字 🙂"


COUNTER = TokenCounter()


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("deploy the app", 3), ("vercel.json", 6), ("a" * 400, 101), ("\ud800", 1)]
)
def test_tokens_are_counted(text: str, count: int) -> None:
    assert COUNTER.count(text) == count


@given(st.text(max_size=200), st.text(max_size=200))
def test_lines_below_each_other_have_the_tokens_of_both(one: str, other: str) -> None:
    assert COUNTER.count(f"{one}\n{other}") == COUNTER.count(one) + COUNTER.count(other)


def test_a_thread_that_counts_while_another_opens_the_tokenizer_counts_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counter, opened, counted = TokenCounter(), module._opened, list[int]()

    class Opened:
        """A tokenizer that lets another thread count as soon as it is first asked for its mark."""

        def __init__(self, path: Path) -> None:
            self._tokenizer: Any = opened(path)

        def token_to_id(self, token: str) -> int:
            if not counted:
                counted.append(0)
                counted[0] = counter.count("a" * 400)
            found: int = self._tokenizer.token_to_id(token)
            return found

        def encode(self, text: str, **options: Any) -> Any:
            return self._tokenizer.encode(text, **options)

    monkeypatch.setattr(module, "_opened", Opened)
    assert (counter.count("a" * 400), counted) == (101, [101])
