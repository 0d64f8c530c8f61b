"""How near a record is to a query, and how much nearer than the records of its namespace usually are.

The nearness is the mean of the nearness of the whole and of the best window. Long records are about more than one
thing, and the vector of the whole, which the model makes of the first 256 tokens, says nothing about the rest. The best
window alone would let one passing remark outweigh the subject of the record.

A cosine alone does not show whether it is high: that depends on the model, the texts and the query. The number of
deviations above the other records of the namespace does. It shows whether the vectors have found something.

Rules of this file: several generations of an index share the vectors of records. An appended row is never written
again. So a reader that knows how many rows there were when it began may read them from any thread, while one owner goes
on appending.
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
"""(windows,) int64, ascending: for each window, the place of its record among the wholes."""

NO_OWNERS: Owners = np.empty(0, np.int64)


def nearness(wholes: npt.NDArray[Floating], windows: npt.NDArray[Floating], owners: Owners) -> npt.NDArray[Floating]:
    """(records,) from the scores of wholes (records,) and windows (windows,). The whole counts as a window too.

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
        """The records at these ``rows`` of ``wholes``; ``owners`` are those of ``windows``."""
        firsts, counts = windows_of(rows, owners)
        return cls(
            wholes.vectors(rows).astype(np.float64),
            windows.vectors(runs(firsts, counts)).astype(np.float64),
            np.repeat(np.arange(len(rows)), counts),
        )

    def nearness(self, values: Callable[[Doubles], Doubles]) -> Doubles:
        """(records,): the nearness of each record, from the ``values`` of its vectors."""
        return nearness(values(self.wholes), values(self.windows), self.owners)

    def cosines(self, direction: Vector) -> Doubles:
        """(records,): with a unit ``direction``. Each row is computed by itself, so that equal vectors tie."""
        return self.nearness(lambda vectors: (vectors * direction).sum(axis=1))


def windows_of(rows: RowNumbers, owners: Owners) -> tuple[RowNumbers, RowNumbers]:
    """For each of ``rows``, the row of its first window, and its count of windows."""
    firsts = np.searchsorted(owners, rows, side="left")
    return firsts, np.searchsorted(owners, rows, side="right") - firsts


def runs(firsts: RowNumbers, counts: RowNumbers) -> RowNumbers:
    """For each i in turn, ``counts[i]`` numbers from ``firsts[i]`` on."""
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())


RECORDS_AT_A_TIME = 256
"""How many records are appended at a time to fill a segment. Their data stays in the cache, which halves the time."""


@attrs.define(eq=False)
class VectorSegment:
    """Append-only rows of vectors: one row per record, in order, and further rows for the windows of long ones."""

    dimension: int = DIMENSION
    wholes: VectorRows = attrs.Factory(lambda self: VectorRows(self.dimension), takes_self=True)
    windows: VectorRows = attrs.Factory(lambda self: VectorRows(self.dimension), takes_self=True)
    """The windows, in the order of their records."""
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
        """Reserve room for ``record_count`` records and ``window_count`` windows."""
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
"""The weight of the prior deviation, in records. A few cosines say little about the distribution."""

PRIOR_DEVIATION = 0.12
"""The prior deviation of the centred cosine, as measured in test namespaces."""

DIGITS = 6
"""The digits kept of a deviation. Single precision sums, which depend on the order of the rows, agree on as many."""

LEAST_LENGTH = 1e-3
"""A shorter vector has no direction: single precision leaves a length of 3e-4 of a vector that equals the mean."""


@attrs.frozen(eq=False)
class Center:
    """The mean of a namespace's unit vectors, as seen from one query."""

    mean: Doubles
    """(dimension,) float64."""
    direction: Vector
    """(dimension,) float32, the query, of unit length."""
    squared: float
    """The squared length of the mean."""
    nearness: float
    """The dot product of query and mean."""

    @classmethod
    def of(cls, mean: Doubles, direction: Vector) -> Center:
        """The center with these fields. ``mean`` is that of all unit vectors of the namespace."""
        return cls(mean, direction, float(mean @ mean), float(mean @ direction.astype(np.float64)))

    def cosines(self, products: npt.NDArray[Floating], heights: npt.NDArray[Floating]) -> npt.NDArray[Floating]:
        """Cosines after the mean is subtracted from the query and from the records.

        ``products`` are those of the records' unit vectors with the query, ``heights`` those with the mean; (n,) each.
        """
        query_length = math.sqrt(max(0.0, 1 - 2 * self.nearness + self.squared))
        lengths = np.sqrt(np.maximum(0.0, 1 + self.squared - 2 * heights)) * query_length
        dots = products - heights + (self.squared - self.nearness)
        cosines: npt.NDArray[Floating] = dots / np.maximum(lengths, LEAST_LENGTH)
        cosines[lengths <= LEAST_LENGTH] = 0
        return cosines


@attrs.frozen
class Background:
    """Mean and deviation of the centred cosines of a namespace's records, with a prior that matters for few records."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: npt.NDArray[Floating]) -> Background:
        """The background of ``cosines``, which are those of all records, in any order, at least one."""
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
    """The owners of the windows that count."""
    _center: Center
    _usual: Background
    mean_pairwise_cosine: float
    """The mean cosine between two records of the namespace, 0 to 1. Where all look alike, a high cosine says little."""

    def deviations(self, record_ids: Iterable[RecordId]) -> dict[RecordId, float]:
        """How many standard deviations nearer than usual each record with a vector is; below 0 if it is less near.

        Computed in double precision, so that equal vectors have equal deviations.
        """
        return self._of_each(record_ids, lambda few: self._standard(few.nearness(self._centred)))

    def cosines(self, record_ids: Iterable[RecordId]) -> dict[RecordId, float]:
        """The cosine of each record with a vector and the query, as in the score of a hit."""
        return self._of_each(record_ids, lambda few: few.cosines(self._center.direction))

    def deviations_of(self, vectors: Matrix) -> tuple[float, ...]:
        """The deviations of any unit ``vectors``, (n, dimension), from the usual nearness of whole records."""
        return tuple(self._standard(self._centred(vectors.astype(np.float64))).tolist())

    def cosines_of(self, vectors: Matrix) -> tuple[float, ...]:
        """The plain cosines of unit ``vectors``, (n, DIMENSION), and the query."""
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
        # Each row is computed by itself, unlike in a product of matrices, so that equal rows get equal cosines.
        products, heights = (
            np.einsum("ij,j->i", vectors, side) for side in (self._center.direction, self._center.mean)
        )
        return self._center.cosines(products, heights)

    def _row_of(self, record_id: RecordId) -> int | None:
        """The record's live row in this generation, or None."""
        row = self._segment.row_of.get(record_id)
        return None if row is None or row >= self._row_count or row in self._dead else row


def mean_pairwise_cosine_of(vector_sum: Doubles, count: int) -> float:
    """The mean cosine between two of ``count`` unit vectors with this sum, with a prior of 0.35 for few vectors."""
    pairs_twice = float(vector_sum @ vector_sum) - count
    return min(1.0, max(0.0, (pairs_twice + 0.35) / (count * (count - 1) + 1)))
