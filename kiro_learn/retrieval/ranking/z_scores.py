"""Standard scores: how much nearer to a query a record is than the records of its namespace usually are.

A cosine does not say whether it is high: that depends on the model, the texts and the query. How many deviations it
lies above the others of its namespace does, and tells where the vectors have found something and where they have not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import Matrix, Vector
from kiro_learn.retrieval.ranking.nearness import FewRecords, Owners, nearness
from kiro_learn.retrieval.ranking.vector_rows import Doubles, Floating
from kiro_learn.retrieval.ranking.vector_segment import VectorSegment

PRIOR_RECORDS = 10
"""Weight of the prior deviation, in records: a few cosines say little about the distribution."""

PRIOR_DEVIATION = 0.12
"""Prior deviation of the centred cosine, as measured in test namespaces."""

DIGITS = 6
"""What is kept of a deviation. Single precision sums, which depend on the order of the rows, agree on as many."""

LEAST_LENGTH = 1e-3
"""What is nearer the mean has no direction of its own: single precision leaves 3e-4 of a vector that is the mean."""


@attrs.frozen(eq=False)
class Center:
    """The mean of a namespace's unit vectors, as seen from one query."""

    mean: Doubles
    """(dimension,) float64."""
    direction: Vector
    """(dimension,) float32, the query, of unit length."""
    squared: float
    """Length of the mean, squared."""
    nearness: float
    """Dot product of query and mean."""

    @classmethod
    def of(cls, mean: Doubles, direction: Vector) -> Center:
        """Shapes and types as in the fields; ``mean`` is that of all unit vectors of the namespace."""
        return cls(mean, direction, float(mean @ mean), float(mean @ direction.astype(np.float64)))

    def cosines(self, products: npt.NDArray[Floating], heights: npt.NDArray[Floating]) -> npt.NDArray[Floating]:
        """Cosines after the mean is subtracted from the query and from the records.

        ``products``: of the records' unit vectors with the query; ``heights``: of the same with the mean; (n,) each.
        """
        query_length = math.sqrt(max(0.0, 1 - 2 * self.nearness + self.squared))
        lengths = np.sqrt(np.maximum(0.0, 1 + self.squared - 2 * heights)) * query_length
        dots = products - heights + (self.squared - self.nearness)
        cosines: npt.NDArray[Floating] = dots / np.maximum(lengths, LEAST_LENGTH)
        cosines[lengths <= LEAST_LENGTH] = 0
        return cosines


@attrs.frozen
class Background:
    """Mean and deviation of the centred cosines of a namespace's records, with a prior while they are few."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: npt.NDArray[Floating]) -> Background:
        """``cosines``: of all records, in any order, at least one."""
        doubt = PRIOR_RECORDS / (len(cosines) + PRIOR_RECORDS)
        variance = (1 - doubt) * float(cosines.var(dtype=np.float64)) + doubt * PRIOR_DEVIATION**2
        return cls((1 - doubt) * float(cosines.mean(dtype=np.float64)), math.sqrt(variance))


@attrs.frozen(eq=False)
class ZScores:
    """Each record's standard score for one query, against all records of one generation of an index."""

    _segment: VectorSegment
    _row_count: int
    _dead: frozenset[int]
    _owners: Owners
    """Of the windows that count."""
    _center: Center
    _usual: Background
    mean_pairwise_cosine: float
    """Mean cosine between two records of the namespace, 0 to 1: where all look alike, a high one says little."""

    def deviations(self, record_ids: Iterable[RecordId]) -> dict[RecordId, float]:
        """How many standard deviations nearer than usual each is, below 0 if less near; only those with a vector.

        Compared in double precision, so that equal vectors have equal ones.
        """
        rows = {record_id: row for record_id in record_ids if (row := self._row_of(record_id)) is not None}
        if not rows:
            return {}
        segment = self._segment
        few = FewRecords.read(np.array(list(rows.values())), self._owners, segment.wholes, segment.windows)
        centred = nearness(self._centred(few.wholes), self._centred(few.windows), few.owners)
        found = (centred - self._usual.mean) / self._usual.deviation
        return dict(zip(rows, found.round(DIGITS).tolist(), strict=True))

    def cosines(self, record_ids: Iterable[RecordId]) -> dict[RecordId, float]:
        """Cosine of each with the query, as in the score of a hit; only those with a vector."""
        rows = {record_id: row for record_id in record_ids if (row := self._row_of(record_id)) is not None}
        if not rows:
            return {}
        segment = self._segment
        few = FewRecords.read(np.array(list(rows.values())), self._owners, segment.wholes, segment.windows)
        wholes, windows = ((vectors * self._center.direction).sum(axis=1) for vectors in (few.wholes, few.windows))
        return dict(zip(rows, nearness(wholes, windows, few.owners).tolist(), strict=True))

    def deviations_of(self, vectors: Matrix) -> tuple[float, ...]:
        """The same of any unit ``vectors``, (n, dimension), beside what is usual for whole records."""
        found = (self._centred(vectors.astype(np.float64)) - self._usual.mean) / self._usual.deviation
        return tuple(found.round(DIGITS).tolist())

    def cosines_of(self, vectors: Matrix) -> tuple[float, ...]:
        """Plain cosines of unit ``vectors``, (n, DIMENSION), with the query."""
        return tuple((vectors @ self._center.direction).tolist())

    def _centred(self, vectors: Doubles) -> Doubles:
        # Of each row by itself, unlike a product of matrices, so that equal rows have equal ones.
        products, heights = (
            np.einsum("ij,j->i", vectors, side) for side in (self._center.direction, self._center.mean)
        )
        return self._center.cosines(products, heights)

    def _row_of(self, record_id: RecordId) -> int | None:
        """The record's live row in this generation, or None."""
        row = self._segment.row_of.get(record_id)
        return None if row is None or row >= self._row_count or row in self._dead else row


def mean_pairwise_cosine_of(vector_sum: Doubles, count: int) -> float:
    """The mean cosine between two of ``count`` unit vectors with this sum, with a prior of 0.35 while they are few."""
    pairs_twice = float(vector_sum @ vector_sum) - count
    return min(1.0, max(0.0, (pairs_twice + 0.35) / (count * (count - 1) + 1)))
