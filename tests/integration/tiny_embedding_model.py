"""A real ONNX model in a folder, in the layout of sentence-transformers, small enough to be made for a test.

The state of a token is a fixed direction for its id, and the count of tokens. So texts that share words are near each
other, by any pooling over all tokens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER

VOCABULARY_SIZE = 30_522
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MODULES = "sentence_transformers.models."


@attrs.frozen(kw_only=True)
class TinyModel:
    """The settings of the model to write into a folder."""

    dimension: int = 48
    inputs: Sequence[str] = INPUTS[:1]
    integer: int = TensorProto.INT64
    output: str = "last_hidden_state"
    mean_in_graph: bool = False
    """Whether the graph gives one vector for a text, not one for each token."""
    graph_name: str = "model.onnx"
    pooling: str | None = None
    """A key of 1_Pooling/config.json; None for no such file."""
    include_prompt: bool = True
    prompts: dict[str, str] | None = None
    token_limit: int | None = None
    modules: Sequence[str] = ("Transformer", "Pooling", "Normalize")
    seed: int = 1
    effort: int = 0
    """The rows of a square matrix that is squared for each text and changes nothing: 1,000 take a few hundredths of a
    second."""

    def write(self, folder: Path) -> Path:
        graph = folder / self.graph_name
        graph.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(self._graph(), str(graph))
        shutil.copy(FILES / TOKENIZER, folder / TOKENIZER)
        _write(folder / "modules.json", [{"idx": 0, "type": MODULES + name} for name in self.modules])
        if self.pooling is not None:
            settings = {self.pooling: True, "include_prompt": self.include_prompt}
            _write(folder / "1_Pooling" / "config.json", settings)
        if self.prompts is not None:
            _write(folder / "config_sentence_transformers.json", {"prompts": self.prompts})
        if self.token_limit is not None:
            _write(folder / "sentence_bert_config.json", {"max_seq_length": self.token_limit, "do_lower_case": False})
        return folder

    def states(self, token_ids: Sequence[int]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The states that the graph gives for a text, before the mean: (tokens, dimension)."""
        states: np.ndarray[Any, np.dtype[np.float32]] = self._table()[np.array(token_ids)]
        return states

    def _table(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.random.default_rng(self.seed).standard_normal((VOCABULARY_SIZE, self.dimension)).astype(np.float32)

    def _graph(self) -> onnx.ModelProto:
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"])]
        constants = [numpy_helper.from_array(self._table(), "table")]
        if self.effort:
            nodes = self._with_effort()
            constants.append(numpy_helper.from_array(np.ones((self.effort, self.effort), np.float32), "square"))
            constants.append(numpy_helper.from_array(np.zeros(1, np.float32), "nothing"))
        if self.mean_in_graph:
            nodes.append(helper.make_node("ReduceMean", ["states"], [self.output], axes=[1], keepdims=0))
        else:
            nodes.append(helper.make_node("Identity", ["states"], [self.output]))
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(name, self.integer, ["batch", "tokens"]) for name in self.inputs],
            [helper.make_tensor_value_info(self.output, TensorProto.FLOAT, None)],
            constants,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def _with_effort(self) -> list[onnx.NodeProto]:
        return [
            helper.make_node("Gather", ["table", "input_ids"], ["bare"]),
            helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("ReduceMax", ["numbers"], ["largest"], keepdims=0),
            helper.make_node("Mul", ["square", "largest"], ["scaled"]),
            helper.make_node("MatMul", ["scaled", "square"], ["squared"]),
            helper.make_node("ReduceMax", ["squared"], ["product"], keepdims=0),
            helper.make_node("Mul", ["product", "nothing"], ["none"]),
            helper.make_node("Add", ["bare", "none"], ["states"]),
        ]


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
