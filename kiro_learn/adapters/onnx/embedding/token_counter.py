"""Counts tokens with the bundled tokenizer, WordPiece: it makes more tokens of most texts than a large model's does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER, shipped
from kiro_learn.retrieval.rendering.passages import LETTERS_A_TOKEN

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class TokenCounter:
    """Reads the tokenizer's file when it is first asked."""

    def __init__(self, folder: Path = FILES) -> None:
        self._folder = folder
        self._tokenizer: Tokenizer | None = None
        self._unknown: int | None = None

    def count(self, text: str) -> int:
        """The tokens of ``text``, without marks at its ends; those of two texts side by side are the sum of both.

        A word that it does not know is one token to it, however long; it counts as a token for every four letters.

        Raises:
          ModelMissing: the file is absent, or is not the one that was shipped.
        """
        if self._tokenizer is None:
            self._tokenizer = self._opened()
        found = self._tokenizer.encode(text.encode("utf-8", errors="replace").decode("utf-8"), add_special_tokens=False)
        return len(found.ids) + sum(
            (end - start) // LETTERS_A_TOKEN
            for token, (start, end) in zip(found.ids, found.offsets, strict=True)
            if token == self._unknown
        )

    def _opened(self) -> Tokenizer:
        # A daemon that is asked for no context block never pays for this import.
        from tokenizers import Tokenizer  # noqa: PLC0415  # see above

        tokenizer = Tokenizer.from_file(str(shipped(self._folder, TOKENIZER)))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._unknown = tokenizer.token_to_id("[UNK]")
        return tokenizer
