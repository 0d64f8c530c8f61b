"""One search's pass over a generation's vectors: by codes over all of them, exactly over those that may be hits."""

from __future__ import annotations

import attrs
import numpy as np

from kiro_learn.retrieval.ranking.nearness import FewRecords, Owners, nearness, runs, windows_of
from kiro_learn.retrieval.ranking.vector_codes import Approximations, CodeProduct, Direction, Floats, RowNumbers
from kiro_learn.retrieval.ranking.vector_rows import Doubles, VectorRows
from kiro_learn.retrieval.ranking.vector_segment import VectorSegment
from kiro_learn.retrieval.ranking.z_scores import Center

SINGLE_PRECISION_ERROR = 7e-5
"""Bounds the float32 error of a product of unit vectors: 1,024 roundings of 2^-24 are 6.2e-5 (found: 3e-7)."""

NEAR_THE_MEAN = 0.1
"""Squared distance from the mean below which centred cosines are made of the vectors: a product of codes may be 0.001
off, which is little beside what is left of most vectors (0.6) and much beside what is left of these."""

FEW_ROWS = 256
"""Among so few the errors of the codes do not cancel, and reading the vectors takes 0.2 ms."""


@attrs.frozen(eq=False)
class Scan:
    """The approximate products of every record, from one pass over all codes."""

    segment: VectorSegment
    center: Center
    owners: Owners
    """Of the windows that count."""
    wholes: Approximations
    windows: Approximations

    @classmethod
    def of(cls, segment: VectorSegment, row_count: int, owners: Owners, center: Center, product: CodeProduct) -> Scan:
        """Make the pass, which dominates the time of a search: every code is read from memory once."""
        directions = Direction.of(center.direction), Direction.of(center.mean)
        wholes, windows = (
            rows.multiply(count, *directions, product)
            for rows, count in ((segment.wholes, row_count), (segment.windows, len(owners)))
        )
        return cls(segment, center, owners, wholes, windows)

    def nearest(self, count: int, dead: RowNumbers, owners: Owners) -> RowNumbers:
        """The rows of the records that may be among the ``count`` nearest that live, of which there are as many.

        ``owners``: this scan's, or none, for wholes alone.
        """
        least, most = (
            nearness(wholes, windows, owners)
            for wholes, windows in ((self.wholes.least, self.windows.least), (self.wholes.most, self.windows.most))
        )
        least[dead] = most[dead] = -np.inf
        rows = np.flatnonzero(most >= _highest(least, count))
        cosines = self._in_single_precision(rows, owners)
        return rows[cosines >= _highest(cosines, count) - SINGLE_PRECISION_ERROR]

    def _in_single_precision(self, rows: RowNumbers, owners: Owners) -> Floats:
        """Of so many as codes cannot tell apart in a namespace where all look alike."""
        query = self.center.direction[:, np.newaxis]
        firsts, counts = windows_of(rows, owners)
        wholes = self.segment.wholes.products(rows, query)[:, 0]
        windows = self.segment.windows.products(runs(firsts, counts), query)[:, 0]
        return nearness(wholes, windows, np.repeat(np.arange(len(rows)), counts))

    def cosines(self, rows: RowNumbers, owners: Owners) -> Doubles:
        """Of a few records, in double precision and alike wherever a row lies, so that equal vectors tie."""
        few = FewRecords.read(rows, owners, self.segment.wholes, self.segment.windows)
        wholes, windows = ((vectors * self.center.direction).sum(axis=1) for vectors in (few.wholes, few.windows))
        return nearness(wholes, windows, few.owners)

    def centred_cosines(self) -> Floats:
        """(records,), approximately, with the mean subtracted: for their distribution, not for the order of hits."""
        wholes = self._centred(self.segment.wholes, self.wholes)
        return nearness(wholes, self._centred(self.segment.windows, self.windows), self.owners)

    def _centred(self, rows: VectorRows, near: Approximations) -> Floats:
        center = self.center
        cosines = center.cosines(near.products, near.heights)
        distances = np.float32(1 + center.squared) - 2 * near.heights
        doubtful = np.flatnonzero(distances < (NEAR_THE_MEAN if len(distances) > FEW_ROWS else np.inf))
        if doubtful.size:
            sides = np.stack([center.direction, center.mean], axis=1)
            cosines[doubtful] = center.cosines(*rows.products(doubtful, sides).T)
        return cosines


def _highest(values: Floats, count: int) -> np.float32:
    """The ``count``-th highest."""
    highest: np.float32 = np.partition(values, len(values) - count)[len(values) - count]
    return highest
