"""Rows of unit vectors that several generations of an index share, and that only ever grow.

Rules of this file: a row that was appended is never written again, so whoever knows how many rows there were when it
began may read them from any thread while one owner goes on appending.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    def extend(self, record_ids: Sequence[RecordId], created_ats: Sequence[datetime], unit_vectors: Matrix) -> None:
        """Append up to BLOCK_ROWS rows at once, at the end of the last block."""
        first = len(self)
        assert first % BLOCK_ROWS == 0, "a block is begun only when the one before is full"
        block = np.zeros((BLOCK_ROWS, DIMENSION), np.float32)
        block[: len(record_ids)] = unit_vectors
        self._blocks.append(block)
        self.row_of.update(zip(record_ids, range(first, first + len(record_ids)), strict=True))
        self.created_ats.extend(created_ats)
        self.record_ids.extend(record_ids)

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

    def multiply(self, rows: range, directions: Matrix, *, out: Matrix) -> None:
        """Put the products of ``rows`` with ``directions`` (n, DIMENSION) into their rows of ``out`` (any, n).

        ``rows`` begin where a block does. All directions are one pass over the memory.
        """
        columns = np.ascontiguousarray(directions.T)  # as fast as one alone; a view of the rows costs two thirds more
        for start in range(rows.start, rows.stop, BLOCK_ROWS):
            part = out[start : min(start + BLOCK_ROWS, rows.stop)]
            np.dot(self._blocks[start // BLOCK_ROWS][: len(part)], columns, out=part)

    def copied(self, row_count: int, leave_out: RowNumbers) -> VectorShelf:
        """A new shelf with the first ``row_count`` rows of this one, less some."""
        kept = np.setdiff1d(np.arange(row_count), leave_out, assume_unique=True).tolist()
        shelf = VectorShelf()
        for start in range(0, len(kept), BLOCK_ROWS):
            rows = kept[start : start + BLOCK_ROWS]
            shelf.extend(
                [self.record_ids[row] for row in rows],
                [self.created_ats[row] for row in rows],
                np.stack([self.vector(row) for row in rows]),
            )
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
