"""The loaded model: ONNX Runtime and the tokenizer, held together. Importing this module takes a fifth of a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kiro_learn.adapters.onnx.embedding.bundle import MODEL, TOKENIZER, shipped
from kiro_learn.adapters.onnx.embedding.pooling import unit_mean
from kiro_learn.adapters.onnx.embedding.tokenizer import MiniLmTokenizer, TokenIds
from kiro_learn.adapters.onnx.runtime import map_errors, open_session, options_of_a_finished_graph
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import BUNDLED_MODEL, Matrix, Vector

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types


class Encoder:
    """The loaded bundled model: embeds one text at a time, in the caller's thread.

    Threads may share one. Queries are read as texts are.
    """

    identity = BUNDLED_MODEL

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: MiniLmTokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    def encode(self, text: str) -> Vector:
        """The text's unit vector. It runs alone: without padding or neighbours there is nothing else to depend on."""
        return self.encode_window(self._tokenizer.token_ids(text))

    def windows(self, text: str) -> list[TokenIds]:
        """What ``encode`` reads of the text, then its further windows."""
        return self._tokenizer.windows(text)

    def encode_window(self, token_ids: TokenIds) -> Vector:
        """The unit vector of what one of ``windows`` holds."""
        with map_errors(_failed_to("embed a text")):
            (token_states,) = self._session.run(None, {"input_ids": token_ids[np.newaxis]})
        states: Matrix = token_states[0]
        return unit_mean(states)


def open_encoder(folder: Path) -> Encoder:
    """Check the files and load them.

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
