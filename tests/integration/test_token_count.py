"""The estimate of tokens, compared with a real tokenizer, the bundled model's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.onnx.embedding.bundle import FILES
from kiro_learn.adapters.onnx.embedding.tokenizer import MiniLmTokenizer
from kiro_learn.retrieval.rendering.passages import count_tokens

ROOT = Path(__file__).parents[2]
END_MARKS = 2
PORTION = 200
"""The characters of a piece, which has no more tokens than the tokenizer takes at once."""


@pytest.mark.parametrize("path", ["docs/search.md", "docs/http-api.md", "kiro_learn/config.py", "pyproject.toml"])
def test_no_text_has_more_tokens_than_are_counted(path: str) -> None:
    tokenizer = MiniLmTokenizer(FILES / "tokenizer.json")
    text = (ROOT / path).read_text()
    portions = [text[start : start + PORTION] for start in range(0, len(text), PORTION)]
    tokens = sum(len(tokenizer.token_ids(portion)) - END_MARKS for portion in portions)
    assert tokens <= sum(map(count_tokens, portions)) <= 1.6 * tokens
