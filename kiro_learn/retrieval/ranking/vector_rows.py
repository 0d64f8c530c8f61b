"""Rows of unit vectors that only ever grow, each with its codes."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.vectors import DIMENSION, Matrix
from kiro_learn.retrieval.ranking.vector_codes import (
    FEWEST_BLOCK_ROWS,
    MOST_BLOCK_ROWS,
    PIECE_BASE,
    ROUNDING,
    Approximations,
    CodedRows,
    CodeProduct,
    Direction,
    Floats,
    Integers,
    RowNumbers,
)

PRODUCT_COMPONENTS = 256 * 384
"""Of rows multiplied at a time. OpenBLAS hands products of 262,144 steps (341 rows of 384 by two directions) or more to
threads of its own, which wait in a busy loop: 32 ms of processor for 50,000 rows, not 14."""

MOST_PRODUCT_ROWS = 256
"""However short they are."""

FIXED_POINT = np.float64(2**32)
"""2^31 components of unit vectors fit in a sum."""

Floating = TypeVar("Floating", np.float32, np.float64)
Doubles: TypeAlias = npt.NDArray[np.float64]
FixedPoint = npt.NDArray[np.int64]


@attrs.define(eq=False)
class VectorRows:
    """Vectors in insertion order. A row is never written again, so any thread may read it.

    The fewer blocks the better: between two of them, a search's thread gives the interpreter to others and has to get
    it back. So those that are expected stand in as few as may be; for others no more is kept than one small block.
    """

    dimension: int = DIMENSION
    _blocks: list[CodedRows] = attrs.Factory(list)
    _count: int = 0
    _expected_count: int = 0

    def __len__(self) -> int:
        return self._count

    def expect(self, count: int) -> None:
        """Reserve room for so many rows; any number of calls may append them."""
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
        """(len(rows), dimension): these rows."""
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
        """(len(rows), k) of these rows with ``directions`` (dimension, k), k 1 or 2, in the precision of the latter.

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
    """The sum of up to 2^20 unit vectors as whole numbers, so that it does not depend on the order of the summands.

    Doubles hold each summand and each sum of them exactly: no more than 2^52.
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
