"""From a text to the model's token ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

TOKEN_LIMIT = 256
"""Of the model, its two end marks included: it was trained on no more."""

TEXT_LIMIT = 32 * TOKEN_LIMIT
"""Characters of a text that are looked at. Tokens have 4 to 5 characters; cutting 2 MB into tokens takes seconds."""


class MiniLmTokenizer:
    """WordPiece as all-MiniLM-L6-v2 was trained with. Threads may share one."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()  # the file says 128 tokens, padded: that was for its makers' batches
        self._tokenizer.enable_truncation(TOKEN_LIMIT)

    def token_ids(self, text: str) -> npt.NDArray[np.int64]:
        """(tokens,) int64, 2 to TOKEN_LIMIT of them; an empty text is its two end marks."""
        return np.array(self._tokenizer.encode(encodable(text[:TEXT_LIMIT])).ids, dtype=np.int64)


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON may carry them, UTF-8 and so the tokenizer may not."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
