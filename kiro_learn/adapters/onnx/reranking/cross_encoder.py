"""The loaded model: ONNX Runtime and the tokenizer, held together. Importing this module takes a fifth of a second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from kiro_learn.adapters.onnx.runtime import map_errors, open_session, session_options
from kiro_learn.errors import RerankError

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"

TOKEN_LIMIT = 256
"""Of query and text together, marks included: its cost grows with them, and 256 hold a question and a memory."""

TEXT_LIMIT = 32 * TOKEN_LIMIT
"""Most characters of a query or a text that are read."""


class CrossEncoder:
    """A loaded rerank model: scores a query with one text at a time, in the caller's thread. Threads may share one."""

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._wanted = [each.name for each in session.get_inputs()]

    def score(self, query: str, text: str) -> float:
        """How well ``text`` fits ``query``. The pair runs alone: there is no padding to depend on.

        Raises:
          RerankError: the model failed, or gives anything but one number.
        """
        pair = _inputs(self._tokenizer.encode(_readable(query), _readable(text)))
        with map_errors(_failed_to("score a text")):
            found = self._session.run(None, {name: pair[name] for name in self._wanted})[0]
        if found.size != 1:
            raise RerankError(f"the rerank model gives {found.size} numbers for a text, not one")
        return float(found.item())


def open_cross_encoder(folder: Path) -> CrossEncoder:
    """Load ``model.onnx`` and ``tokenizer.json``.

    Raises:
      RerankError: one of them is absent or damaged, or the model wants what a cross-encoder does not.
    """
    tokenizer = _open_tokenizer(folder / TOKENIZER)
    if not (folder / MODEL).is_file():
        raise RerankError(f"there is no {folder / MODEL}")
    with map_errors(_failed_to("load")):
        session = open_session(str(folder / MODEL), session_options())
    strange = {each.name for each in session.get_inputs()} - _inputs(tokenizer.encode("", "")).keys()
    if strange:
        raise RerankError(f"the rerank model wants inputs that no text has: {', '.join(sorted(strange))}")
    return CrossEncoder(session, tokenizer)


def _failed_to(task: str) -> Callable[[Exception], RerankError]:
    """Names only the kind of error: the message of a user's model may hold anything."""
    return lambda error: RerankError(f"the rerank model failed to {task}: {type(error).__name__}")


def _open_tokenizer(path: Path) -> Tokenizer:
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)  # the library says of what is no JSON only that it raises
    except OSError as error:
        raise RerankError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RerankError(f"{path} is no tokenizer") from error
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKEN_LIMIT)
    return tokenizer


def _inputs(pair: Encoding) -> dict[str, npt.NDArray[np.int64]]:
    """(1, tokens) int64 each, by the names that every exporter gives them."""
    columns = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
    return {name: np.array([column], dtype=np.int64) for name, column in columns.items()}


def _readable(text: str) -> str:
    """What is looked at, with lone surrogates replaced: UTF-8, and so the tokenizer, may not have them."""
    return text[:TEXT_LIMIT].encode("utf-8", errors="replace").decode("utf-8")
