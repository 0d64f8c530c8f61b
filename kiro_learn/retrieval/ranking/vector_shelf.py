"""Rows of unit vectors that several generations of an index share, and that only ever grow.

Rules of this file: a row that was appended is never written again, so whoever knows how many rows there were when it
began may read them from any thread while one owner goes on appending.
"""

from __future__ import annotations

from datetime import datetime

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.ids import RecordId
from kiro_learn.vectors import DIMENSION, Matrix, Vector

BLOCK_ROWS = 1024
"""1.5 MB each. Growing by blocks copies nothing; growing an array of 50,000 rows stopped the caller for 0.1 s."""

FIXED_POINT = np.float64(2**32)
"""2^31 components of unit vectors fit in a sum."""

RowNumbers = npt.NDArray[np.intp]
FixedPoint = npt.NDArray[np.int64]


@attrs.define(eq=False)
class VectorShelf:
    """Vectors, in the order they came, with the record that each belongs to."""

    _blocks: list[Matrix] = attrs.Factory(list)
    """(BLOCK_ROWS, DIMENSION) float32 each; rows of unit length, or zero."""
    record_ids: list[RecordId] = attrs.Factory(list)
    created_ats: list[datetime] = attrs.Factory(list)
    row_of: dict[RecordId, int] = attrs.Factory(dict)
    """The last row of each record."""

    def __len__(self) -> int:
        return len(self.record_ids)

    def append(self, record_id: RecordId, created_at: datetime, unit_vector: Vector) -> None:
        row = len(self)
        if row == len(self._blocks) * BLOCK_ROWS:
            self._blocks.append(np.zeros((BLOCK_ROWS, DIMENSION), np.float32))
        self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS] = unit_vector
        self.row_of[record_id] = row
        self.created_ats.append(created_at)
        self.record_ids.append(record_id)

    def vector(self, row: int) -> Vector:
        vector: Vector = self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return vector

    def products(self, row_count: int, directions: Matrix) -> Matrix:
        """(row_count, n) float32: the products of the first rows with ``directions`` (n, DIMENSION), in one pass."""
        columns = np.ascontiguousarray(directions.T)  # as fast as one alone; a view of the rows costs two thirds more
        products = np.empty((row_count, len(directions)), np.float32)
        for start in range(0, row_count, BLOCK_ROWS):
            part = products[start : start + BLOCK_ROWS]
            np.dot(self._blocks[start // BLOCK_ROWS][: len(part)], columns, out=part)
        return products

    def copied(self, row_count: int, leave_out: RowNumbers) -> VectorShelf:
        """A new shelf with the first ``row_count`` rows of this one, less some."""
        shelf = VectorShelf()
        for row in np.setdiff1d(np.arange(row_count), leave_out, assume_unique=True).tolist():
            shelf.append(self.record_ids[row], self.created_ats[row], self.vector(row))
        return shelf


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
