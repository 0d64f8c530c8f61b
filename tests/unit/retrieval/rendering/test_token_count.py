"""Tokens are counted rather too high than too low."""

from __future__ import annotations

import pytest

from kiro_learn.retrieval.rendering.passages import count_tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t", 0),
        ("the token", 3),
        ("getUserToken", 4),
        ("HTTPRequest", 4),
        ("f(x)[0];", 8),
        ("2026-01-05", 10),
        ("漢字", 2),
        ("\N{GRINNING FACE}", 1),
    ],
)
def test_words_signs_and_digits_are_counted(text: str, count: int) -> None:
    assert count_tokens(text) == count
