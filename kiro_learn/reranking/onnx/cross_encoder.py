"""The loaded model: ONNX Runtime and the tokenizer, held together. Importing this module takes a fifth of a second."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from kiro_learn.errors import RerankError

# From its import on, ONNX Runtime keeps a device id in ~/.cache and sends usage data, unless it was told not to before.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from onnxruntime.capi import (  # type: ignore[import-untyped]  # as above
    onnxruntime_pybind11_state as onnx_errors,
)

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"

TOKEN_LIMIT = 256
"""Of query and text together, marks included: its cost grows with them, and 256 hold a question and a memory."""

TEXT_LIMIT = 32 * TOKEN_LIMIT
"""Characters of either that are looked at."""

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
        raise RerankError(f"the rerank model failed to {task}: {type(error).__name__}") from error


class CrossEncoder:
    """Scores one pair at a time, in the caller's thread. Threads may share one."""

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
        with map_errors("score a text"):
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
    with map_errors("load"):
        session = onnxruntime.InferenceSession(
            str(folder / MODEL), session_options(), providers=["CPUExecutionProvider"]
        )
    strange = {each.name for each in session.get_inputs()} - _inputs(tokenizer.encode("", "")).keys()
    if strange:
        raise RerankError(f"the rerank model wants inputs that no text has: {', '.join(sorted(strange))}")
    return CrossEncoder(session, tokenizer)


def session_options() -> onnxruntime.SessionOptions:
    """One thread a pair, asleep when idle: a laptop's other cores belong to its owner."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # what goes wrong is raised; it need not stand on the daemon's stderr as well
    return options


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
