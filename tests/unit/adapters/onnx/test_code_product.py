from __future__ import annotations

import numpy as np
import onnx
import pytest
import structlog
from onnx import TensorProto, helper

from kiro_learn.adapters.onnx import code_product
from kiro_learn.adapters.onnx.code_product import GRAPH, OnnxCodeProduct, extremes, open_product
from kiro_learn.errors import DependencyError
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.retrieval.ranking.vector_rows import PIECE_LIMIT, ZERO, multiply_codes


@pytest.mark.parametrize("dimension", [7, DIMENSION, 1024])
def test_onnx_multiplies_as_numpy_does(dimension: int) -> None:
    dice = np.random.default_rng(7)
    multiply = open_product(GRAPH)
    for rows in (1, 7, 1_000):
        codes = dice.integers(0, 256, (rows, dimension)).astype(np.uint8)
        pieces = dice.integers(-PIECE_LIMIT, PIECE_LIMIT + 1, (dimension, 4)).astype(np.int8)
        found = multiply(codes, pieces)
        assert found.dtype == np.int32
        assert found.tolist() == multiply_codes(codes, pieces).tolist()


def test_the_graph_is_what_multiplies_in_the_daemon() -> None:
    with structlog.testing.capture_logs() as logs:
        OnnxCodeProduct()(*extremes())
    assert logs == []


def test_onnx_multiplies_the_extremes_as_whole_numbers_are_multiplied() -> None:
    codes, pieces = extremes()
    expected = (codes.astype(int) - ZERO) @ pieces.astype(int)
    assert expected.max() == DIMENSION * 128 * PIECE_LIMIT
    assert open_product(GRAPH)(codes, pieces).tolist() == expected.tolist()


def test_the_graph_is_one_product_with_128_taken_off_the_codes() -> None:
    codes = helper.make_tensor_value_info("codes", TensorProto.UINT8, ["rows", "components"])
    pieces = helper.make_tensor_value_info("pieces", TensorProto.INT8, ["components", "columns"])
    products = helper.make_tensor_value_info("products", TensorProto.INT32, ["rows", "columns"])
    zero = helper.make_tensor("zero", TensorProto.UINT8, [], [ZERO])
    node = helper.make_node("MatMulInteger", ["codes", "pieces", "zero"], ["products"])
    graph = helper.make_graph([node], "code_product", [codes, pieces], [products], [zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    assert onnx.load_from_string(GRAPH) == model


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        (b"not a graph", "failed to multiply codes"),
        (GRAPH.replace(b"MatMulInteger", b"MatMulUnheard"), "failed to multiply codes"),
        (GRAPH.replace(b"\x02\x80\x01B", b"\x02\x81\x01B"), "wrongly on this machine"),
    ],
    ids=["damaged", "unknown", "wrong"],
)
def test_where_onnx_fails_or_errs_numpy_multiplies_after_one_warning(
    monkeypatch: pytest.MonkeyPatch, graph: bytes, problem: str
) -> None:
    with pytest.raises(DependencyError, match=problem):
        open_product(graph)
    monkeypatch.setattr(code_product, "GRAPH", graph)
    codes, pieces = extremes()
    multiply = OnnxCodeProduct()
    with structlog.testing.capture_logs() as logs:
        for _ in range(2):
            assert multiply(codes, pieces).tolist() == multiply_codes(codes, pieces).tolist()
    assert [(line["event"], line["log_level"]) for line in logs] == [("code_product.by_numpy", "warning")]
