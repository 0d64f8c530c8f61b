"""Rows of unit vectors to which rows are only added, each with its codes of two bytes a component."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.vectors import DIMENSION, CodeProduct, Matrix, Vector

PRODUCT_COMPONENTS = 256 * 384
"""The components of rows that are multiplied at a time. OpenBLAS gives products of 262,144 steps (341 rows of 384 by
two directions) or more to threads of its own, which wait in a busy loop: 32 ms of processor for 50,000 rows, not 14.
"""

MOST_PRODUCT_ROWS = 256
"""The most rows that are multiplied at a time, however short they are."""

FIXED_POINT = np.float64(2**32)
"""The factor of fixed point: a sum has room for 2^31 components of unit vectors."""

Floating = TypeVar("Floating", np.float32, np.float64)
Doubles: TypeAlias = npt.NDArray[np.float64]
FixedPoint = npt.NDArray[np.int64]


@attrs.define(eq=False)
class VectorRows:
    """Vectors in insertion order. A row is never written again, so any thread may read it.

    Fewer blocks are better: between two of them, a search's thread gives the interpreter to others and must get it
    back. So expected rows share as few blocks as possible. Unexpected rows waste no more than one small block.
    """

    dimension: int = DIMENSION
    _blocks: list[CodedRows] = attrs.Factory(list)
    _count: int = 0
    _expected_count: int = 0

    def __len__(self) -> int:
        return self._count

    def expect(self, count: int) -> None:
        """Reserve room for ``count`` rows; any number of calls may append them."""
        self._expected_count = self._count + count

    def extend(self, rows: CodedRows) -> None:
        """Append ``rows``, in order. Only one thread may append; others may read earlier rows meanwhile."""
        start = 0
        while start < len(rows):
            room = sum(map(len, self._blocks)) - self._count
            if room == 0:
                room = min(max(self._expected_count - self._count, FEWEST_BLOCK_ROWS), MOST_BLOCK_ROWS)
                self._blocks.append(CodedRows.empty(room, self.dimension))
            block = self._blocks[-1]
            place = len(block) - room
            fitting = rows.part(slice(start, start + room))
            block.put(slice(place, place + len(fitting)), fitting)
            self._count += len(fitting)
            start += len(fitting)

    def take(self, rows: RowNumbers) -> CodedRows:
        """A copy of these rows."""
        found = CodedRows.empty(len(rows), self.dimension)
        firsts = np.cumsum([0, *map(len, self._blocks)])
        blocks = firsts.searchsorted(rows, side="right") - 1
        for number in np.unique(blocks).tolist():
            places = np.flatnonzero(blocks == number)
            found.put(places, self._blocks[number].part(rows[places] - firsts[number]))
        return found

    def vectors(self, rows: RowNumbers) -> Matrix:
        """(len(rows), dimension): the vectors of these rows."""
        return self.take(rows).vectors()

    def multiply(self, count: int, query: Direction, mean: Direction, product: CodeProduct) -> Approximations:
        """The products of the first ``count`` rows: one pass over their codes."""
        pieces = np.hstack([query.pieces, mean.pieces])
        products, heights, margins = np.empty((3, count), np.float32)
        stop = 0
        for whole_block in self._blocks:
            start, stop = stop, min(stop + len(whole_block), count)
            if start == stop:
                break
            block = whole_block.part(slice(stop - start))
            sums = product(block.codes, pieces)
            _put_products(sums[:, :2], query, block.scales, out=products[start:stop])
            _put_products(sums[:, 2:], mean, block.scales, out=heights[start:stop])
            np.multiply(block.residuals, np.float32(1 + query.doubt), out=margins[start:stop])
        margins += np.float32(query.doubt + ROUNDING)
        return Approximations(products, heights, margins)

    def products(self, rows: RowNumbers, directions: npt.NDArray[Floating]) -> npt.NDArray[Floating]:
        """(len(rows), k): these rows times ``directions`` (dimension, k), k 1 or 2, in the latter's precision.

        The last bits depend on where a row stands among ``rows``.
        """
        found = np.empty((len(rows), directions.shape[1]), directions.dtype)
        rows_at_a_time = max(1, min(MOST_PRODUCT_ROWS, PRODUCT_COMPONENTS // self.dimension))
        for start in range(0, len(rows), rows_at_a_time):
            part = slice(start, start + rows_at_a_time)
            np.dot(self.vectors(rows[part]).astype(directions.dtype, copy=False), directions, out=found[part])
        return found


def _put_products(sums: Integers, direction: Direction, scales: Floats, *, out: Floats) -> None:
    whole = sums[:, 0] * np.int32(PIECE_BASE) + sums[:, 1]  # below 2^30: 1,024 * 127 * STEPS
    np.multiply(whole.astype(np.float32), scales, out=out)
    out *= np.float32(direction.step)


def fixed_sum(vectors: Matrix) -> FixedPoint:
    """The sum of up to 2^20 unit vectors in whole numbers, so that the order of the summands does not matter.

    Doubles hold each summand and each partial sum exactly: none exceeds 2^52.
    """
    summands: Doubles = vectors * FIXED_POINT
    np.rint(summands, out=summands)
    total: Doubles = summands.sum(axis=0)
    return total.astype(np.int64)


def unit_rows(vectors: Matrix) -> Matrix:
    """``vectors`` (n, dimension) with each row at unit length; a row that is zero or not finite becomes zero."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)  # no float32 is too large for it
    usable = np.isfinite(squares) & (squares > 0)
    lengths = np.sqrt(squares, where=usable, out=np.ones_like(squares))
    units = np.empty(vectors.shape, np.float32)
    np.divide(vectors, lengths[:, np.newaxis], out=units, casting="same_kind")
    units[~usable] = 0
    return units


# Quantizes unit vectors to two bytes a component. A search reads the first byte and bounds its error.
#
# A row x = scale (code - 128 + rest / 256) is near x̂ = scale (code - 128), a direction q near q̂ = step (128 high +
# low). The product of x̂ and q̂ is a whole number times scale times step. So it is the same on every machine and for
# every place of the row. Since
#
# x·q - x̂·q̂ = (x - x̂)·q + x̂·(q - q̂),
#
# its error is at most |x - x̂| |q| + |x̂| |q - q̂| (Cauchy-Schwarz). So the codes show which vectors need not be read,
# and no vector is lost that must be.

ZERO = 128
"""The code of 0."""

CODE_LIMIT = 127
"""The limit of a component: it is -127 to 127 scales."""

REST_BASE = 256
"""The parts of a scale that the residual of a component counts: it is -128 to 127 of them."""

PIECE_BASE = 128
PIECE_LIMIT = 64
"""The limit of a high piece. x86 without VNNI adds two products of a code and a piece in 16 saturating bits: 2 * 255 *
64 = 32,640 fits.
"""

STEPS = PIECE_BASE * PIECE_LIMIT - 1
"""The largest component of a direction in steps: the largest whose high piece is within PIECE_LIMIT."""

FEWEST_BLOCK_ROWS = 4096
"""The fewest rows of a block: 3 MB, of which a system gives only the pages that are written. Growing by blocks copies
nothing, while growing an array of 50,000 single precision vectors stopped the caller for 0.1 s.
"""

MOST_BLOCK_ROWS = 65_536
"""The most rows of a block: 1 MB of products by four columns of pieces, which stays in the cache."""

SINGLE_THREADED_COMPONENTS = 128 * 384
"""The components of rows that are multiplied at a time. More would go to OpenBLAS's own threads (see
``PRODUCT_COMPONENTS``), and would not stay in the cache as float32.
"""

ROUNDING = 2e-6
"""More than the error of single precision in a product and its bounds (six roundings of numbers up to 1: 4e-7)."""

Codes: TypeAlias = npt.NDArray[np.uint8]
"""(n, dimension) uint8, one row for each vector."""

Pieces: TypeAlias = npt.NDArray[np.int8]
"""(dimension, k) int8 in C order, each within PIECE_LIMIT of 0."""

Rests: TypeAlias = npt.NDArray[np.int8]
"""(n, dimension) int8."""

Integers: TypeAlias = npt.NDArray[np.int32]
RowNumbers: TypeAlias = npt.NDArray[np.intp]
Floats: TypeAlias = npt.NDArray[np.float32]


def multiply_codes(codes: Codes, pieces: Pieces) -> Integers:
    """``CodeProduct`` by NumPy alone.

    It computes in float32 and is still exact: no sum of up to 1,024 products reaches 2^24 (1,024 * 255 * 64 =
    16,711,680).
    """
    columns = pieces.astype(np.float32)
    products = np.empty((len(codes), pieces.shape[1]), np.float32)
    rows_at_a_time = max(1, SINGLE_THREADED_COMPONENTS // codes.shape[1])
    for start in range(0, len(codes), rows_at_a_time):
        part = slice(start, start + rows_at_a_time)
        np.dot(codes[part].astype(np.float32), columns, out=products[part])
    of_zeros: Integers = ZERO * pieces.sum(axis=0, dtype=np.int32)
    return products.astype(np.int32) - of_zeros


@attrs.frozen(eq=False)
class Direction:
    """A vector to multiply codes with, in 14 bits a component."""

    pieces: Pieces
    """(dimension, 2): the high and the low piece of each component."""
    step: float
    doubt: float
    """The length of the vector's residual, which the pieces leave out."""

    @classmethod
    def of(cls, vector: npt.NDArray[np.float64] | Vector) -> Direction:
        """The direction of ``vector``: (dimension,), finite, no longer than 1."""
        exact = vector.astype(np.float64)
        step = float(np.abs(exact).max()) / STEPS
        rounded = np.rint(exact / step) if step else np.zeros_like(exact)
        high = np.rint(rounded / PIECE_BASE)
        pieces = np.stack([high, rounded - PIECE_BASE * high], axis=1).astype(np.int8)
        return cls(pieces, step, float(np.linalg.norm(exact - step * rounded)))


@attrs.frozen(eq=False)
class CodedRows:
    """Unit vectors, or zeros, quantized: uint8 codes, int8 rests, scales and the lengths of residuals."""

    codes: Codes
    rests: Rests
    scales: Floats
    """(n,): the size of one step of a code."""
    residuals: Floats
    """(n,): upper bounds of the lengths of the residuals."""

    @classmethod
    def of(cls, units: Matrix) -> CodedRows:
        """The coded rows of ``units``: of unit length too, each component exact to a 30,000th of the largest.

        The codes of a row do not depend on the rows next to it.
        """
        largest: Floats = np.maximum(units.max(axis=1), -units.min(axis=1))
        parts = units * (CODE_LIMIT * REST_BASE / np.where(largest > 0, largest, 1))[:, np.newaxis]
        np.rint(parts, out=parts)
        lengths = np.sqrt(np.einsum("ij,ij->i", parts, parts, dtype=np.float64))
        scales = np.divide(REST_BASE, lengths, out=np.zeros(len(units)), where=lengths > 0).astype(np.float32)
        wholes = parts.astype(np.int16)
        codes = (wholes + np.int16(REST_BASE // 2)) >> 8
        rests = wholes - (codes << 8)
        left = np.sqrt(np.einsum("ij,ij->i", rests, rests, dtype=np.float32)) * (scales / REST_BASE)
        residuals = np.where(scales > 0, left * np.float32(1 + 1e-4) + np.float32(ROUNDING), 0)
        return cls((codes + ZERO).astype(np.uint8), rests.astype(np.int8), scales, residuals)

    @classmethod
    def empty(cls, count: int, dimension: int) -> CodedRows:
        """``count`` rows of zeros, to be filled by ``put``."""
        codes, rests = np.zeros((count, dimension), np.uint8), np.zeros((count, dimension), np.int8)
        return cls(codes, rests, np.zeros(count, np.float32), np.zeros(count, np.float32))

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: slice | RowNumbers) -> CodedRows:
        """These rows, copied if ``rows`` names them one by one."""
        return CodedRows(self.codes[rows], self.rests[rows], self.scales[rows], self.residuals[rows])

    def put(self, places: slice | RowNumbers, rows: CodedRows) -> None:
        """Overwrite the rows at ``places`` with ``rows``, in this order."""
        self.codes[places], self.rests[places] = rows.codes, rows.rests
        self.scales[places], self.residuals[places] = rows.scales, rows.residuals

    def vectors(self) -> Matrix:
        """(n, dimension): the stored vectors, to the last bit the same for every place of a row."""
        vectors = self.codes.astype(np.float32)
        vectors -= np.float32(ZERO)
        vectors *= np.float32(REST_BASE)
        vectors += self.rests
        vectors *= (self.scales / np.float32(REST_BASE))[:, np.newaxis]
        return vectors


@attrs.frozen(eq=False)
class Approximations:
    """The products of rows with a query and with a mean."""

    products: Floats
    """(n,): the products with the query."""
    heights: Floats
    """(n,): the products with the mean."""
    margins: Floats
    """(n,): upper bounds of the errors of ``products``."""

    @property
    def least(self) -> Floats:
        """(n,) float32: lower bounds of the exact products."""
        return self.products - self.margins

    @property
    def most(self) -> Floats:
        """(n,) float32: upper bounds of the exact products."""
        return self.products + self.margins
