"""Turns a text into the bundled model's token ids, and counts the tokens of a text.

The daemon imports this as it starts. The ``tokenizers`` library takes a tenth of a second: it is imported when needed.
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
"""The most tokens that the model reads at once, with its two end marks: it was trained on no more."""

OVERLAP = 32
"""The tokens that two windows in a row share, so that a sentence at their border is whole in one of them."""

MOST_WINDOWS = 16
"""The most windows of a text, the first included. They hold 3,584 tokens, more than TEXT_LIMIT characters have."""

TEXT_LIMIT = 32 * TOKEN_LIMIT
"""The most characters that are read of a text, since 2 MB take seconds. Tokens have 4 to 5 characters."""


class MiniLmTokenizer:
    """The WordPiece tokenizer that all-MiniLM-L6-v2 was trained with. Threads may share one."""

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
    tokenizer.no_padding()  # the file pads to 128 tokens, for its makers' batches
    tokenizer.no_truncation()
    return tokenizer


def _ids(encoding: Encoding) -> TokenIds:
    return np.array(encoding.ids, dtype=np.int64)


def encodable(text: str) -> str:
    """The text with lone surrogates replaced. JSON may have them, but UTF-8, and so the tokenizer, may not."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


# Counts tokens with the bundled tokenizer. It makes more tokens of most texts than the tokenizer of a large model.


class TokenCounter:
    """Counts the tokens of texts. The first call reads the tokenizer's file."""

    def __init__(self, folder: Path = FILES) -> None:
        self._folder = folder
        self._tokenizer: Tokenizer | None = None
        self._unknown: int | None = None

    def count(self, text: str) -> int:
        """The count of tokens in ``text``, without end marks; two texts in a row have the sum of both counts.

        A word that the tokenizer does not know is one token, however long. It is counted as one for every four letters.

        Raises:
          ModelMissing: the file is absent, or is not the one that was shipped.
        """
        if self._tokenizer is None:
            tokenizer = _opened(shipped(self._folder, TOKENIZER))
            self._unknown = tokenizer.token_to_id("[UNK]")
            self._tokenizer = tokenizer  # set last: another thread that finds it needs ``_unknown`` too
        found = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        return len(found.ids) + sum(
            (end - start) // LETTERS_A_TOKEN
            for token, (start, end) in zip(found.ids, found.offsets, strict=True)
            if token == self._unknown
        )
