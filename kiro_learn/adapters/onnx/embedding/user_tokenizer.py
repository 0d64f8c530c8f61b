"""From a text to the token ids of a model of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from kiro_learn.adapters.onnx.embedding.tokenizer import MOST_WINDOWS, OVERLAP, encodable
from kiro_learn.errors import EmbeddingError

CHARACTERS_PER_TOKEN = 32
"""Of a text that are looked at, for each token of a window; as many as with the bundled model."""


@attrs.frozen(eq=False)
class Window:
    """What a model reads at once: (1, tokens) int64 each, by the names that every exporter gives them."""

    inputs: dict[str, npt.NDArray[np.int64]]


class UserTokenizer:
    """Any tokenizer that ``tokenizer.json`` can hold. Threads may share one."""

    def __init__(self, path: Path, *, token_limit: int, lower_case: bool) -> None:
        self._tokenizer = _open(path)
        self._token_limit = token_limit
        self._lower_case = lower_case
        self._room = token_limit - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        if self._room <= 2 * OVERLAP:
            raise EmbeddingError(f"the embedding model reads {token_limit} tokens at once, too few to read a text in")

    def first(self, text: str, prefix: str) -> Window:
        """What is read of a text first, or at all."""
        tokens = self._tokens(prefix + self._readable(text))
        tokens.truncate(self._room)
        return self._marked(tokens)

    def windows(self, text: str, prefix: str) -> list[Window]:
        """``first``, then each next window of the text, with the prefix too; at most MOST_WINDOWS."""
        before, tokens = self._tokens(prefix), self._tokens(self._readable(text))
        room = self._room - len(before.ids)
        if room <= 2 * OVERLAP:
            raise EmbeddingError("the prefix of the embedding model leaves too little room for a text")
        tokens.truncate(room, stride=OVERLAP)
        further = tokens.overflowing[: MOST_WINDOWS - 1]
        return [self.first(text, prefix), *(self._marked(Encoding.merge([before, window])) for window in further)]

    def prefix_length(self, prefix: str) -> int:
        """Tokens of a prefix."""
        return len(self._tokens(prefix).ids)

    def _readable(self, text: str) -> str:
        readable = encodable(text[: CHARACTERS_PER_TOKEN * self._token_limit])
        return readable.lower() if self._lower_case else readable

    def _tokens(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _marked(self, tokens: Encoding) -> Window:
        whole = self._tokenizer.post_process(tokens)
        columns = {"input_ids": whole.ids, "attention_mask": whole.attention_mask, "token_type_ids": whole.type_ids}
        return Window({name: np.array([column], np.int64) for name, column in columns.items()})


def _open(path: Path) -> Tokenizer:
    try:
        text = path.read_text(encoding="utf-8")
        is_tokenizer = "model" in json.loads(text)  # of what is none, the library says only that it raises
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{path} is no tokenizer") from error
    if not is_tokenizer:
        raise EmbeddingError(f"{path} is no tokenizer")
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
