"""The loaded bundled model: ONNX Runtime and a tokenizer. Importing this module takes a fifth of a second."""

from __future__ import annotations

import enum
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kiro_learn.adapters.onnx.embedding.bundle import MODEL, TOKENIZER, shipped
from kiro_learn.adapters.onnx.embedding.tokenizer import MiniLmTokenizer, TokenIds
from kiro_learn.adapters.onnx.runtime import map_errors, open_session, options_of_a_finished_graph
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import BUNDLED_MODEL, Matrix, Vector

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types


class Encoder:
    """The loaded bundled model: embeds one text at a time, in the caller's thread.

    Threads may share one. A query is embedded in the same way as a stored text.
    """

    identity = BUNDLED_MODEL

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: MiniLmTokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    def encode(self, text: str) -> Vector:
        """The text's unit vector. Each text runs alone, so that its vector depends on no padding and no other text."""
        return self.encode_window(self._tokenizer.token_ids(text))

    def windows(self, text: str) -> list[TokenIds]:
        """The tokens that ``encode`` reads of the text, then the further windows."""
        return self._tokenizer.windows(text)

    def encode_window(self, token_ids: TokenIds) -> Vector:
        """The unit vector of one of ``windows``."""
        with map_errors(_failed_to("embed a text")):
            (token_states,) = self._session.run(None, {"input_ids": token_ids[np.newaxis]})
        states: Matrix = token_states[0]
        return unit_mean(states)


def open_encoder(folder: Path) -> Encoder:
    """Check and load the files in ``folder``.

    Raises:
      ModelMissing: a file is absent, or is not the one that was shipped.
      EmbeddingError: this ONNX Runtime cannot run the model.
    """
    model, tokenizer = shipped(folder, MODEL), shipped(folder, TOKENIZER)
    with map_errors(_failed_to("load")):
        session = open_session(str(model), options_of_a_finished_graph())
    return Encoder(session, MiniLmTokenizer(tokenizer))


def _failed_to(task: str) -> Callable[[Exception], EmbeddingError]:
    return lambda error: EmbeddingError(f"the embedding model failed to {task}: {error}")


# Makes one vector of a text from the states of its tokens.


class Pooling(enum.StrEnum):
    """How the states of a text's tokens become its vector. It must be the way in which the model was trained."""

    MEAN = "mean"
    CLS = "cls"
    """The state of the first token."""
    MAX = "max"
    LAST = "lasttoken"


def unit_mean(token_states: Matrix) -> Vector:
    """The mean over the tokens at unit length, as all-MiniLM-L6-v2 was trained.

    ``token_states``: (tokens, dimension) float32, at least one token and no padding, hence no mask.
    """
    mean = token_states.mean(axis=0)
    unit: Vector = mean / np.linalg.norm(mean)
    return unit


def pooled(token_states: Matrix, pooling: Pooling) -> Vector:
    """(dimension,) float32, of any length. ``token_states``: as for ``unit_mean``."""
    match pooling:
        case Pooling.MEAN:
            found = token_states.mean(axis=0)
        case Pooling.CLS:
            found = token_states[0]
        case Pooling.MAX:
            found = token_states.max(axis=0)
        case Pooling.LAST:
            found = token_states[-1]
    vector: Vector = found.astype(np.float32, copy=False)
    return vector


def unit(vector: Vector) -> Vector:
    """``vector`` at unit length.

    Raises:
      EmbeddingError: it is zero, or not finite.
    """
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not (np.isfinite(length) and length > 0):
        raise EmbeddingError("the embedding model made a vector of no direction")
    direction: Vector = (vector / length).astype(np.float32)
    return direction
