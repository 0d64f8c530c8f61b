"""Counts tokens with the bundled tokenizer, WordPiece: it makes more tokens of most texts than a large model's does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER, shipped

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class TokenCounter:
    """Reads the tokenizer's file when it is first asked."""

    def __init__(self, folder: Path = FILES) -> None:
        self._folder = folder
        self._tokenizer: Tokenizer | None = None

    def count(self, text: str) -> int:
        """The tokens of ``text``, without marks at its ends; those of two texts side by side are the sum of both.

        Raises:
          ModelMissing: the file is absent, or is not the one that was shipped.
        """
        if self._tokenizer is None:
            self._tokenizer = self._opened()
        clean = text.encode("utf-8", errors="replace").decode("utf-8")
        return len(self._tokenizer.encode(clean, add_special_tokens=False).ids)

    def _opened(self) -> Tokenizer:
        # A daemon that is asked for no context block never pays for this import.
        from tokenizers import Tokenizer  # noqa: PLC0415  # see above

        tokenizer = Tokenizer.from_file(str(shipped(self._folder, TOKENIZER)))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
