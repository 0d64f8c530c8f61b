"""The loaded model: ONNX Runtime and the tokenizer, held together. Importing this module takes a fifth of a second."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kiro_learn.embedding.onnx.bundle import MODEL, TOKENIZER, shipped
from kiro_learn.embedding.onnx.pooling import unit_mean
from kiro_learn.embedding.onnx.tokenizer import MiniLmTokenizer, TokenIds
from kiro_learn.errors import EmbeddingError
from kiro_learn.vectors import Matrix, Vector

# From its import on, ONNX Runtime keeps a device id in ~/.cache and sends usage data, unless it was told not to before.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from onnxruntime.capi import (  # type: ignore[import-untyped]  # as above
    onnxruntime_pybind11_state as onnx_errors,
)

# They share no class of their own, and newer versions add to them.
ONNX_ERRORS = tuple(
    each for each in vars(onnx_errors).values() if isinstance(each, type) and issubclass(each, Exception)
)


@contextmanager
def map_errors(task: str) -> Iterator[None]:
    """Raise what ONNX Runtime raises as ours, with the cause kept."""
    try:
        yield
    except ONNX_ERRORS as error:
        raise EmbeddingError(f"the embedding model failed to {task}: {error}") from error


class Encoder:
    """Embeds one text at a time, in the caller's thread. Threads may share one."""

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
        with map_errors("embed a text"):
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
    with map_errors("load"):
        session = onnxruntime.InferenceSession(str(model), session_options(), providers=["CPUExecutionProvider"])
    return Encoder(session, MiniLmTokenizer(tokenizer))


def session_options() -> onnxruntime.SessionOptions:
    """One thread a text, asleep when idle: a laptop's other cores belong to its owner."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph was built fused. Rewriting it gains no speed, adds 0.1 s to the load, and may change the sums.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # what goes wrong is raised; it need not stand on the daemon's stderr as well
    return options
