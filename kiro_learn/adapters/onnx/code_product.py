"""The product of codes on ONNX Runtime: with integers of one byte it takes half as long as NumPy's float32."""

from __future__ import annotations

import numpy as np
import structlog

from kiro_learn.errors import DependencyError
from kiro_learn.model.vectors import DIMENSION, CodeProduct
from kiro_learn.retrieval.ranking.vector_rows import PIECE_LIMIT, Codes, Integers, Pieces, multiply_codes

log = structlog.get_logger()

GRAPH = (
    b"\x08\x08:\xc5\x01"
    b'\n.\n\x05codes\n\x06pieces\n\x04zero\x12\x08products"\rMatMulInteger'
    b"\x12\x0ccode_product"
    b"*\x0c\x10\x02*\x02\x80\x01B\x04zero"
    b"Z%\n\x05codes\x12\x1c\n\x1a\x08\x02\x12\x16\n\x06\x12\x04rows\n\x0c\x12\ncomponents"
    b"Z)\n\x06pieces\x12\x1f\n\x1d\x08\x03\x12\x19\n\x0c\x12\ncomponents\n\t\x12\x07columns"
    b"b%\n\x08products\x12\x19\n\x17\x08\x06\x12\x13\n\x06\x12\x04rows\n\t\x12\x07columns"
    b"B\x04\n\x00\x10\x11"
)
"""A model file of one node, ``products = MatMulInteger(codes, pieces, 128)``; a test makes the same with ``onnx``."""


class OnnxCodeProduct:
    """``CodeProduct`` by ONNX Runtime. If it fails or multiplies wrongly, it logs a warning, and NumPy takes over."""

    def __init__(self) -> None:
        self._multiply: CodeProduct = self._first

    def __call__(self, codes: Codes, pieces: Pieces, /) -> Integers:
        try:
            return self._multiply(codes, pieces)
        except DependencyError as error:
            log.warning("code_product.by_numpy", problem=str(error))
            self._multiply = multiply_codes
            return multiply_codes(codes, pieces)

    def _first(self, codes: Codes, pieces: Pieces, /) -> Integers:
        self._multiply = open_product(GRAPH)
        return self._multiply(codes, pieces)


def open_product(graph: bytes) -> CodeProduct:
    """The graph's product, after a trial: where products of bytes saturate, hits would be lost without an error.

    Raises:
      DependencyError: ONNX Runtime cannot load or run the graph, or multiplies wrongly; the product may raise it too.
    """
    # Imported here because it takes a fifth of a second, in which the daemon would not answer. By now the model that
    # made the query's vector has imported it already.
    from kiro_learn.adapters.onnx.runtime import map_errors, open_session, options_of_a_finished_graph  # noqa: PLC0415  # see above

    def failed(error: Exception) -> DependencyError:
        return DependencyError(f"ONNX Runtime failed to multiply codes: {error}")

    with map_errors(failed):
        session = open_session(graph, options_of_a_finished_graph())

    def multiply(codes: Codes, pieces: Pieces, /) -> Integers:
        with map_errors(failed):
            products: Integers = session.run(None, {"codes": codes, "pieces": pieces})[0]
        return products

    codes, pieces = extremes()
    if not np.array_equal(multiply(codes, pieces), multiply_codes(codes, pieces)):
        raise DependencyError("ONNX Runtime multiplies codes wrongly on this machine")
    return multiply


def extremes() -> tuple[Codes, Pieces]:
    """All pairs of extreme codes and pieces, next to each other: their sums would saturate first."""
    codes = np.array([0, 255, 1, 128], np.uint8).repeat(DIMENSION).reshape(4, DIMENSION)
    pieces = np.array([-PIECE_LIMIT, PIECE_LIMIT, 1, 0], np.int8).repeat(DIMENSION).reshape(4, DIMENSION)
    codes[2, ::2], pieces[2, ::2] = 255, -PIECE_LIMIT
    return codes, np.ascontiguousarray(pieces.T)
