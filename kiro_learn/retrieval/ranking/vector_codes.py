"""Unit vectors as codes of one byte a component: a quarter of the memory to read, and how far they may be off.

A row x is near x̂ = scale (code - 128), a direction q near q̂ = step (128 high + low). Their product is a whole number
times scale times step, so it is the same on every machine and wherever the row lies; and since

    x·q - x̂·q̂ = (x - x̂)·q + x̂·(q - q̂),

it is off by at most |x - x̂| |q| + |x̂| |q - q̂| (Cauchy-Schwarz). So codes may tell which vectors need not be looked at,
without losing one that has to be.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.vectors import DIMENSION, Matrix, Vector

ZERO = 128
"""The code of 0."""

CODE_LIMIT = 127
"""A component is -127 to 127 scales."""

PIECE_BASE = 128
PIECE_LIMIT = 64
"""x86 without VNNI adds two products of a code and a piece in 16 saturating bits: 2 * 255 * 64 = 32,640 fits."""

STEPS = PIECE_BASE * PIECE_LIMIT - 1
"""A direction's largest component; the largest whose high piece is within PIECE_LIMIT."""

BLOCK_ROWS = 4096
"""1.5 MB of codes and 6 of vectors, of which a system gives what is written to. Growing by blocks copies nothing, where
growing an array of 50,000 vectors stopped the caller for 0.1 s. ONNX Runtime takes as long in any blocks of 1,024 to
4,096, and a twentieth more in blocks of 8,192."""

SINGLE_THREADED_ROWS = 128
"""Multiplied at a time: more would be handed to OpenBLAS's own threads (VectorRows says why not), and stay no longer in
the cache as float32."""

ROUNDING = 2e-6
"""More than single precision is off in a product and its bounds (six roundings of numbers up to 1: 4e-7)."""

Codes: TypeAlias = npt.NDArray[np.uint8]
"""(n, DIMENSION) uint8, a row a vector."""

Pieces: TypeAlias = npt.NDArray[np.int8]
"""(DIMENSION, k) int8 in C order, each within PIECE_LIMIT of 0."""

Integers: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float32]


class CodeProduct(Protocol):
    """Multiplies codes; any thread may call it."""

    def __call__(self, codes: Codes, pieces: Pieces, /) -> Integers:
        """(n, k) int32, exactly ``(codes - ZERO) @ pieces``; ``codes`` in C order."""
        ...


def multiply_codes(codes: Codes, pieces: Pieces) -> Integers:
    """``CodeProduct`` by NumPy alone. In float32, yet exact: no sum reaches 2^24 (384 * 255 * 64 = 6,266,880)."""
    columns = pieces.astype(np.float32)
    products = np.empty((len(codes), pieces.shape[1]), np.float32)
    for start in range(0, len(codes), SINGLE_THREADED_ROWS):
        part = slice(start, start + SINGLE_THREADED_ROWS)
        np.dot(codes[part].astype(np.float32), columns, out=products[part])
    of_zeros: Integers = ZERO * pieces.sum(axis=0, dtype=np.int32)
    return products.astype(np.int32) - of_zeros


@attrs.frozen(eq=False)
class Direction:
    """A vector to multiply codes with, in 14 bits a component."""

    pieces: Pieces
    """(DIMENSION, 2): high and low."""
    step: float
    doubt: float
    """Length of what the pieces leave of the vector."""

    @classmethod
    def of(cls, vector: npt.NDArray[np.float64] | Vector) -> Direction:
        """``vector``: (DIMENSION,), finite, no longer than 1."""
        exact = vector.astype(np.float64)
        step = float(np.abs(exact).max()) / STEPS
        rounded = np.rint(exact / step) if step else np.zeros(DIMENSION)
        high = np.rint(rounded / PIECE_BASE)
        pieces = np.stack([high, rounded - PIECE_BASE * high], axis=1).astype(np.int8)
        return cls(pieces, step, float(np.linalg.norm(exact - step * rounded)))


@attrs.frozen(eq=False)
class CodedRows:
    """Unit vectors, or zeros, as codes."""

    codes: Codes
    scales: Floats
    """(n,)."""
    residuals: Floats
    """(n,), no less than the length of what the codes leave of each vector."""

    @classmethod
    def of(cls, units: Matrix) -> CodedRows:
        """The same in every row, whichever stand beside it."""
        largest: Floats = np.maximum(units.max(axis=1), -units.min(axis=1))
        scales: Floats = largest / np.float32(CODE_LIMIT)
        rounded = np.divide(units, np.where(scales > 0, scales, 1)[:, np.newaxis])
        np.rint(rounded, out=rounded)
        codes = (rounded + np.float32(ZERO)).astype(np.uint8)
        rounded *= scales[:, np.newaxis]
        np.subtract(units, rounded, out=rounded)
        lengths = np.sqrt(np.einsum("ij,ij->i", rounded, rounded))
        return cls(codes, scales, np.where(scales > 0, lengths * np.float32(1 + 1e-4) + np.float32(ROUNDING), 0))

    @classmethod
    def empty(cls, count: int) -> CodedRows:
        return cls(np.zeros((count, DIMENSION), np.uint8), np.zeros(count, np.float32), np.zeros(count, np.float32))

    def part(self, rows: slice) -> CodedRows:
        return CodedRows(self.codes[rows], self.scales[rows], self.residuals[rows])

    def put(self, place: int, rows: CodedRows) -> None:
        part = slice(place, place + len(rows.codes))
        self.codes[part], self.scales[part], self.residuals[part] = rows.codes, rows.scales, rows.residuals


@attrs.frozen(eq=False)
class Approximations:
    """The products of rows with a query and with a mean."""

    products: Floats
    """(n,), with the query."""
    heights: Floats
    """(n,), with the mean."""
    margins: Floats
    """(n,): ``products`` are off by no more."""

    @property
    def least(self) -> Floats:
        return self.products - self.margins

    @property
    def most(self) -> Floats:
        return self.products + self.margins


@attrs.define(eq=False)
class CodeRows:
    """Codes, in the order they came. A row is never written again: whoever knows of it may read it in any thread."""

    _blocks: list[CodedRows] = attrs.Factory(list)
    _count: int = 0

    def extend(self, units: Matrix) -> None:
        rows, start = CodedRows.of(units), 0
        while start < len(units):
            place = self._count % BLOCK_ROWS
            if place == 0:
                self._blocks.append(CodedRows.empty(BLOCK_ROWS))
            fitting = rows.part(slice(start, start + BLOCK_ROWS - place))
            self._blocks[-1].put(place, fitting)
            self._count += len(fitting.codes)
            start += len(fitting.codes)

    def multiply(self, count: int, query: Direction, mean: Direction, product: CodeProduct) -> Approximations:
        """The products of the first ``count`` rows: one pass over their codes."""
        pieces = np.hstack([query.pieces, mean.pieces])
        products, heights, margins = np.empty((3, count), np.float32)
        for start in range(0, count, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, count)
            block = self._blocks[start // BLOCK_ROWS].part(slice(stop - start))
            sums = product(block.codes, pieces)
            _put_products(sums[:, :2], query, block.scales, out=products[start:stop])
            _put_products(sums[:, 2:], mean, block.scales, out=heights[start:stop])
            np.multiply(block.residuals, np.float32(1 + query.doubt), out=margins[start:stop])
        margins += np.float32(query.doubt + ROUNDING)
        return Approximations(products, heights, margins)


def _put_products(sums: Integers, direction: Direction, scales: Floats, *, out: Floats) -> None:
    whole = sums[:, 0] * np.int32(PIECE_BASE) + sums[:, 1]  # below 2^29: 384 * 127 * STEPS
    np.multiply(whole.astype(np.float32), scales, out=out)
    out *= np.float32(direction.step)
