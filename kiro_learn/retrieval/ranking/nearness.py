"""How near a record is to a query, and how much nearer than the records of its namespace usually are.

It is the mean of its whole's and of its best window's nearness. Long records are about more than one thing, and the
vector of the whole, which the model makes of the first 256 tokens, is silent on the rest. The best window alone would
let one passing remark outweigh what a record is about.

A cosine does not say whether it is high: that depends on the model, the texts and the query. How many deviations it
lies above the others of its namespace does, and tells where the vectors have found something and where they have not.

Rules of this file: several generations of an index share the vectors of records. What was appended is never written
again, so a reader that knows how much there was when it began may read that from any thread while one owner goes on
appending.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, Matrix, Vector
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, Doubles, Floating, RowNumbers, VectorRows

Owners: TypeAlias = npt.NDArray[np.int64]
"""(windows,) int64, ascending: of each window, the place of its record among the wholes."""

NO_OWNERS: Owners = np.empty(0, np.int64)


def nearness(wholes: npt.NDArray[Floating], windows: npt.NDArray[Floating], owners: Owners) -> npt.NDArray[Floating]:
    """(records,) from what wholes (records,) and windows (windows,) score each; the whole is a window too.

    A record without further windows keeps its whole's score to the last bit.
    """
    if not owners.size:
        return wholes
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    long = owners[starts]
    best = wholes.copy()
    best[long] = np.maximum(wholes[long], np.maximum.reduceat(windows, starts))
    best += wholes
    best /= 2
    return best


@attrs.frozen(eq=False)
class FewRecords:
    """Some records' vectors in double precision: the last bits of single precision depend on where a row lies."""

    wholes: Doubles
    """(records, dimension)."""
    windows: Doubles
    """(windows, dimension)."""
    owners: Owners

    @classmethod
    def read(cls, rows: RowNumbers, owners: Owners, wholes: VectorRows, windows: VectorRows) -> FewRecords:
        """The records at these ``rows`` of ``wholes``; ``owners``: of ``windows``."""
        firsts, counts = windows_of(rows, owners)
        return cls(
            wholes.vectors(rows).astype(np.float64),
            windows.vectors(runs(firsts, counts)).astype(np.float64),
            np.repeat(np.arange(len(rows)), counts),
        )

    def nearness(self, values: Callable[[Doubles], Doubles]) -> Doubles:
        """(records,): that of each record, from the ``values`` of its vectors."""
        return nearness(values(self.wholes), values(self.windows), self.owners)

    def cosines(self, direction: Vector) -> Doubles:
        """(records,): with a unit ``direction``; of each row by itself, so that equal vectors tie."""
        return self.nearness(lambda vectors: (vectors * direction).sum(axis=1))


def windows_of(rows: RowNumbers, owners: Owners) -> tuple[RowNumbers, RowNumbers]:
    """Of each of ``rows``, the row of its first window, and how many windows it has."""
    firsts = np.searchsorted(owners, rows, side="left")
    return firsts, np.searchsorted(owners, rows, side="right") - firsts


def runs(firsts: RowNumbers, counts: RowNumbers) -> RowNumbers:
    """``counts[i]`` numbers from ``firsts[i]`` on, for one i after the other."""
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())


RECORDS_AT_A_TIME = 256
"""Records appended at a time while a segment is filled: their data stays in the cache, which halves the time."""


@attrs.define(eq=False)
class VectorSegment:
    """Append-only rows of vectors: one row per record, in order, and further rows for the windows of long ones."""

    dimension: int = DIMENSION
    wholes: VectorRows = attrs.Factory(lambda self: VectorRows(self.dimension), takes_self=True)
    windows: VectorRows = attrs.Factory(lambda self: VectorRows(self.dimension), takes_self=True)
    """In the order of their records."""
    _owners: array[int] = attrs.Factory(lambda: array("q"))
    record_ids: list[RecordId] = attrs.Factory(list)
    created_ats: list[datetime] = attrs.Factory(list)
    row_of: dict[RecordId, int] = attrs.Factory(dict)
    """The last row of each record."""

    def __len__(self) -> int:
        return len(self.record_ids)

    def owners(self, window_count: int) -> Owners:
        """The rows of the records of the first ``window_count`` windows. A copy: 0.02 ms for 50,000."""
        return np.frombuffer(self._owners[:window_count], np.int64) if window_count else NO_OWNERS

    def expect(self, record_count: int, window_count: int) -> None:
        """Reserve room for so many records and windows."""
        self.wholes.expect(record_count)
        self.windows.expect(window_count)

    def extend(
        self,
        record_ids: Sequence[RecordId],
        created_ats: Sequence[datetime],
        wholes: CodedRows,
        windows: CodedRows,
        window_counts: RowNumbers,
    ) -> None:
        """Append records, each with one row of ``wholes`` and the next ``window_counts[i]`` of ``windows``."""
        first = len(self)
        self.wholes.extend(wholes)
        self.windows.extend(windows)
        owners = np.repeat(np.arange(first, first + len(record_ids), dtype=np.int64), window_counts)
        self._owners.frombytes(owners.tobytes())
        self.row_of.update(zip(record_ids, range(first, first + len(record_ids)), strict=True))
        self.created_ats.extend(created_ats)
        self.record_ids.extend(record_ids)

    def copied(self, row_count: int, window_count: int, leave_out: RowNumbers) -> VectorSegment:
        """A new segment with the first records and windows of this one, without the records ``leave_out``."""
        kept = np.setdiff1d(np.arange(row_count), leave_out, assume_unique=True)
        owners = self.owners(window_count)
        segment = VectorSegment(self.dimension)
        segment.expect(len(kept), int(windows_of(kept, owners)[1].sum()))
        for start in range(0, len(kept), RECORDS_AT_A_TIME):
            rows = kept[start : start + RECORDS_AT_A_TIME]
            firsts, counts = windows_of(rows, owners)
            segment.extend(
                [self.record_ids[row] for row in rows.tolist()],
                [self.created_ats[row] for row in rows.tolist()],
                self.wholes.take(rows),
                self.windows.take(runs(firsts, counts)),
                counts,
            )
        return segment


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
        return self._of_each(record_ids, lambda few: self._standard(few.nearness(self._centred)))

    def cosines(self, record_ids: Iterable[RecordId]) -> dict[RecordId, float]:
        """Cosine of each with the query, as in the score of a hit; only those with a vector."""
        return self._of_each(record_ids, lambda few: few.cosines(self._center.direction))

    def deviations_of(self, vectors: Matrix) -> tuple[float, ...]:
        """The same of any unit ``vectors``, (n, dimension), beside what is usual for whole records."""
        return tuple(self._standard(self._centred(vectors.astype(np.float64))).tolist())

    def cosines_of(self, vectors: Matrix) -> tuple[float, ...]:
        """Plain cosines of unit ``vectors``, (n, DIMENSION), with the query."""
        return tuple((vectors @ self._center.direction).tolist())

    def _of_each(
        self, record_ids: Iterable[RecordId], values: Callable[[FewRecords], Doubles]
    ) -> dict[RecordId, float]:
        rows = {record_id: row for record_id in record_ids if (row := self._row_of(record_id)) is not None}
        if not rows:
            return {}
        segment = self._segment
        few = FewRecords.read(np.array(list(rows.values())), self._owners, segment.wholes, segment.windows)
        return dict(zip(rows, values(few).tolist(), strict=True))

    def _standard(self, cosines: Doubles) -> Doubles:
        return ((cosines - self._usual.mean) / self._usual.deviation).round(DIGITS)

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
