"""From a text to the model's token ids, and how many tokens a text has.

The daemon imports this as it starts; the library, which takes a tenth of a second, is imported when it is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER, shipped
from kiro_learn.retrieval.rendering.passages import LETTERS_A_TOKEN

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

TokenIds: TypeAlias = npt.NDArray[np.int64]

TOKEN_LIMIT = 256
"""Of the model, its two end marks included: it was trained on no more."""

OVERLAP = 32
"""Tokens that a window shares with the one before: a sentence that the border cuts is whole in one of them."""

MOST_WINDOWS = 16
"""Of a text, the first included: 3,584 tokens, more than TEXT_LIMIT characters of prose or code have."""

TEXT_LIMIT = 32 * TOKEN_LIMIT
"""Most characters of a text that are read. Tokens have 4 to 5 characters; cutting 2 MB into tokens takes seconds."""


class MiniLmTokenizer:
    """WordPiece as all-MiniLM-L6-v2 was trained with. Threads may share one."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = _opened(path)
        self._tokenizer.enable_truncation(TOKEN_LIMIT, stride=OVERLAP)

    def token_ids(self, text: str) -> TokenIds:
        """(tokens,) int64, 2 to TOKEN_LIMIT of them; an empty text is its two end marks."""
        return _ids(self._encode(text))

    def windows(self, text: str) -> list[TokenIds]:
        """``token_ids``, then those of each next window of the text; at least one, at most MOST_WINDOWS."""
        first = self._encode(text)
        return [_ids(window) for window in (first, *first.overflowing[: MOST_WINDOWS - 1])]

    def _encode(self, text: str) -> Encoding:
        return self._tokenizer.encode(encodable(text[:TEXT_LIMIT]))


def _opened(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415  # as said above

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()  # the file says 128 tokens, padded: that was for its makers' batches
    tokenizer.no_truncation()
    return tokenizer


def _ids(encoding: Encoding) -> TokenIds:
    return np.array(encoding.ids, dtype=np.int64)


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON may carry them, UTF-8 and so the tokenizer may not."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


# Counts tokens with the bundled tokenizer, WordPiece: it makes more tokens of most texts than a large model's does.


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
            tokenizer = _opened(shipped(self._folder, TOKENIZER))
            self._unknown = tokenizer.token_to_id("[UNK]")
            self._tokenizer = tokenizer  # last: another thread that finds it counts with the mark too
        found = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        return len(found.ids) + sum(
            (end - start) // LETTERS_A_TOKEN
            for token, (start, end) in zip(found.ids, found.offsets, strict=True)
            if token == self._unknown
        )
