"""Rows of unit vectors that only ever grow."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.vectors import DIMENSION, Matrix, Vector

BLOCK_ROWS = 1024
"""1.5 MB each. Growing by blocks copies nothing; growing an array of 50,000 rows stopped the caller for 0.1 s."""

PRODUCT_ROWS = 256
"""Multiplied at a time, a part of a block. OpenBLAS hands products of 262,144 steps (341 rows by two directions) or
more to threads of its own, which wait in a busy loop: 32 ms of processor for 50,000 rows, not 14."""

FIXED_POINT = np.float64(2**32)
"""2^31 components of unit vectors fit in a sum."""

RowNumbers = npt.NDArray[np.intp]
FixedPoint = npt.NDArray[np.int64]


@attrs.define(eq=False)
class VectorRows:
    """Vectors, in the order they came. A row is never written again: whoever knows of it may read it in any thread."""

    _blocks: list[Matrix] = attrs.Factory(list)
    """(BLOCK_ROWS, DIMENSION) float32 each."""
    _count: int = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> Vector:
        vector: Vector = self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return vector

    def extend(self, vectors: Matrix) -> None:
        while len(vectors):
            place = self._count % BLOCK_ROWS
            if place == 0:
                self._blocks.append(np.zeros((BLOCK_ROWS, DIMENSION), np.float32))
            fitting = vectors[: BLOCK_ROWS - place]
            self._blocks[-1][place : place + len(fitting)] = fitting
            self._count += len(fitting)
            vectors = vectors[len(fitting) :]

    def take(self, rows: RowNumbers) -> Matrix:
        """A copy of these rows."""
        found = np.empty((len(rows), DIMENSION), np.float32)
        for place, row in enumerate(rows.tolist()):
            found[place] = self[row]
        return found

    def multiply(self, rows: range, directions: Matrix, *, out: Matrix) -> None:
        """Put the products of ``rows`` with ``directions`` (n, DIMENSION) into their rows of ``out`` (any, n).

        ``rows`` begin where a block does. All directions are one pass over the memory.
        """
        columns = np.ascontiguousarray(directions.T)  # as fast as one alone; a view of the rows costs two thirds more
        for start in range(rows.start, rows.stop, PRODUCT_ROWS):
            part = out[start : min(start + PRODUCT_ROWS, rows.stop)]
            first = start % BLOCK_ROWS
            np.dot(self._blocks[start // BLOCK_ROWS][first : first + len(part)], columns, out=part)


def in_fixed_point(vectors: Matrix) -> FixedPoint:
    """``vectors`` as whole numbers, whose sums do not depend on the order in which they are added and taken away."""
    return np.rint(vectors * FIXED_POINT).astype(np.int64)


def unit_rows(vectors: Matrix) -> Matrix:
    """``vectors`` (n, DIMENSION) with each row at unit length; a row that is zero or not finite becomes zero."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)  # no float32 is too large for it
    usable = np.isfinite(squares) & (squares > 0)
    lengths = np.sqrt(squares, where=usable, out=np.ones_like(squares))
    units = np.zeros(vectors.shape, np.float32)
    np.divide(vectors, lengths[:, np.newaxis], out=units, where=usable[:, np.newaxis], casting="same_kind")
    return units
