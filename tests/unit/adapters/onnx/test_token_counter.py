from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.onnx.embedding.tokenizer import TokenCounter

COUNTER = TokenCounter()


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("deploy the app", 3), ("vercel.json", 6), ("a" * 400, 101), ("\ud800", 1)]
)
def test_tokens_are_counted(text: str, count: int) -> None:
    assert COUNTER.count(text) == count


@given(st.text(max_size=200), st.text(max_size=200))
def test_lines_below_each_other_have_the_tokens_of_both(one: str, other: str) -> None:
    assert COUNTER.count(f"{one}\n{other}") == COUNTER.count(one) + COUNTER.count(other)
