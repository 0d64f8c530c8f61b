from __future__ import annotations

import pytest

from kiro_learn.embedding.onnx.bundle import FILES, TOKENIZER
from kiro_learn.embedding.onnx.tokenizer import TEXT_LIMIT, TOKEN_LIMIT, MiniLmTokenizer, encodable

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


def test_what_lies_past_the_text_limit_is_not_looked_at(tokenizer: MiniLmTokenizer) -> None:
    spaces = " " * (TEXT_LIMIT - 1)
    assert tokenizer.token_ids("a" + spaces + "b").tolist() == tokenizer.token_ids("a").tolist()


def test_lone_surrogates_become_question_marks() -> None:
    assert encodable("a\ud800b") == "a?b"
    assert encodable("naïve 漢字 🙂") == "naïve 漢字 🙂"
