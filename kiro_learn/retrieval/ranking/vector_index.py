"""One namespace's vectors as a value: exact cosine search over all stored vectors, and cheap next generations.

A generation never changes. A search keeps the generation with which it began, in any thread. One owner makes the next
generations, one at a time. This file also decides which namespaces' vectors stay in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs
import numpy as np

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, best_first
from kiro_learn.model.vectors import BUNDLED_MODEL, DIMENSION, CodeProduct, Matrix, ModelIdentity, Parts, Vector
from kiro_learn.retrieval.ranking.nearness import (
    NO_OWNERS,
    RECORDS_AT_A_TIME,
    Background,
    Center,
    FewRecords,
    Owners,
    VectorSegment,
    ZScores,
    mean_pairwise_cosine_of,
    nearness,
    runs,
    windows_of,
)
from kiro_learn.retrieval.ranking.vector_rows import (
    FIXED_POINT,
    Approximations,
    CodedRows,
    Direction,
    Doubles,
    FixedPoint,
    Floats,
    RowNumbers,
    VectorRows,
    fixed_sum,
    multiply_codes,
    unit_rows,
)

WHOLES_TOLD = 5
"""How many cosines the confidence needs."""

BYTES_A_COMPONENT = 2

BYTES_A_VECTOR = 8
"""The bytes of a vector in addition to its components: the scale and the length of the residual."""

BYTES_A_RECORD = 340
"""The bytes of a record in addition to its vectors: its id, time and row numbers (docs/retrieval-measured.md)."""

BYTES_AN_INDEX = 10_000
"""The fixed bytes of an index, even without records."""

NO_ROWS: RowNumbers = np.empty(0, np.intp)


@attrs.frozen
class VectorRanking:
    """The records nearest to a query, with the mean and deviation of all cosines of their namespace."""

    hits: tuple[Hit, ...] = ()
    """Best first; ``score``: mean cosine of the whole and of the best window, -1 to 1; ties by newest, then by id."""
    count: int = 0
    """How many records of the namespace have a vector."""
    standings: ZScores | None = attrs.field(default=None, eq=False)
    """The standard score of each of these records; None if nothing was found."""
    nearest_wholes: tuple[float, ...] = ()
    """Cosines of the WHOLES_TOLD nearest vectors of whole records, best first, whichever hits there are."""
    model: ModelIdentity = BUNDLED_MODEL
    """The model that made these vectors and the query's."""


@attrs.frozen(eq=False)
class VectorIndex:
    """A generation of a namespace's vectors; ``epoch`` counts the generations."""

    _segment: VectorSegment = attrs.Factory(VectorSegment)
    _row_count: int = 0
    """How many records of the segment belong to this generation."""
    _window_count: int = 0
    _dead: RowNumbers = NO_ROWS
    """The rows of removed or replaced records."""
    _sum: FixedPoint = attrs.Factory(lambda self: _no_sum(self._segment), takes_self=True)
    """The sum of the unit vectors of the live whole records, in fixed point."""
    epoch: int = 0
    model: ModelIdentity = BUNDLED_MODEL
    """The model that made the vectors."""

    @classmethod
    def of(
        cls,
        record_ids: Sequence[RecordId],
        created_ats: Sequence[datetime],
        vectors: Matrix,
        row_counts: Sequence[int] | None = None,
        *,
        epoch: int = 0,
        model: ModelIdentity = BUNDLED_MODEL,
    ) -> VectorIndex:
        """The index of these records, each of them once.

        ``vectors``: (n, dimension) float32 of any length, copied. Each record has one row, or ``row_counts[i]`` the
        i-th.
        """
        segment = VectorSegment(vectors.shape[1])
        vector_sum = _no_sum(segment)
        counts = np.ones(len(record_ids), np.intp) if row_counts is None else np.array(row_counts, np.intp)
        ends = np.cumsum(counts)
        segment.expect(len(counts), int(counts.sum()) - len(counts))
        for start in range(0, len(record_ids), RECORDS_AT_A_TIME):
            part = slice(start, start + RECORDS_AT_A_TIME)
            firsts = (ends - counts)[part]
            rows = CodedRows.of(unit_rows(vectors[firsts[0] : ends[part][-1]]))
            wholes = rows.part(firsts - firsts[0])
            windows = rows.part(np.delete(np.arange(len(rows)), firsts - firsts[0]))
            vector_sum = vector_sum + fixed_sum(wholes.vectors())
            segment.extend(record_ids[part], created_ats[part], wholes, windows, counts[part] - 1)
        return cls(segment, len(segment), len(segment.windows), sum=vector_sum, epoch=epoch, model=model)

    def __len__(self) -> int:
        return self._row_count - len(self._dead)

    @property
    def row_count(self) -> int:
        """How many vectors a search compares."""
        return self._row_count + self._window_count

    def with_record(self, record_id: RecordId, created_at: datetime, parts: Parts) -> VectorIndex:
        """The next generation, where ``record_id`` has ``parts`` of any length, whatever it had before."""
        segment, dead = self._appendable_segment()
        rows = CodedRows.of(unit_rows(parts))
        whole, windows = rows.part(slice(1)), rows.part(slice(1, None))
        vector_sum = self._sum - _live_sum(segment, dead, record_id) + fixed_sum(whole.vectors())
        dead = _with_dead(segment, dead, record_id)
        segment.extend([record_id], [created_at], whole, windows, np.array([len(windows)]))
        return self._next_generation(segment, dead, vector_sum)

    def without(self, record_id: RecordId) -> VectorIndex:
        """The next generation, without ``record_id``. An unknown id changes nothing but the epoch."""
        segment, dead = self._appendable_segment()
        vector_sum = self._sum - _live_sum(segment, dead, record_id)
        return self._next_generation(segment, _with_dead(segment, dead, record_id), vector_sum)

    def rank(
        self, query_vector: Vector, limit: int, *, wholes_only: bool = False, product: CodeProduct = multiply_codes
    ) -> VectorRanking:
        """The ``limit`` records nearest to ``query_vector``, by exact cosines, and the standard score of each record.

        The nearness of a record is the mean of its whole's and its best window's; with ``wholes_only``, its whole's. A
        vector that is zero or not finite has cosine 0; a query that is either finds nothing. The hits depend on the
        records alone, not on the order of their changes. ``product`` multiplies the codes.
        """
        direction = unit_rows(query_vector[np.newaxis])[0]
        count = min(max(limit, WHOLES_TOLD), len(self))
        if limit <= 0 or count == 0 or not direction.any():
            return VectorRanking(count=len(self), model=self.model)
        center = Center.of(self._sum / FIXED_POINT / len(self), direction)
        owners = NO_OWNERS if wholes_only else self._segment.owners(self._window_count)
        scan = Scan.of(self._segment, self._row_count, owners, center, product)
        nearest = self._hits(scan, count, owners)
        by_wholes = self._hits(scan, min(WHOLES_TOLD, count), NO_OWNERS) if owners.size else nearest
        nearest_wholes = tuple(hit.score for hit in by_wholes[:WHOLES_TOLD])
        return VectorRanking(nearest[:limit], len(self), self._standings(scan), nearest_wholes, self.model)

    def _hits(self, scan: Scan, count: int, owners: Owners) -> tuple[Hit, ...]:
        """The nearest hits, best first, at least ``count``."""
        rows = scan.nearest(count, self._dead, owners)
        record_ids, created_ats = self._segment.record_ids, self._segment.created_ats
        found = zip(rows.tolist(), scan.cosines(rows, owners).tolist(), strict=True)
        return tuple(best_first(Hit(record_ids[row], created_ats[row], cosine) for row, cosine in found))

    def _standings(self, scan: Scan) -> ZScores:
        cosines = scan.centred_cosines()
        background = Background.of(np.delete(cosines, self._dead) if self._dead.size else cosines)
        mean_pairwise_cosine = mean_pairwise_cosine_of(self._sum / FIXED_POINT, len(self))
        dead = frozenset(self._dead.tolist())
        return ZScores(self._segment, self._row_count, dead, scan.owners, scan.center, background, mean_pairwise_cosine)

    def _appendable_segment(self) -> tuple[VectorSegment, RowNumbers]:
        """This generation's rows, copied if a later generation has already appended to them."""
        if self._row_count == len(self._segment):
            return self._segment, self._dead
        return self._segment.copied(self._row_count, self._window_count, self._dead), NO_ROWS

    @property
    def dead_share(self) -> float:
        """The share of removed or replaced records in a search's scan."""
        return len(self._dead) / max(1, self._row_count)

    @property
    def size_bytes(self) -> int:
        """About the bytes of this generation in memory, dead rows included."""
        return expected_bytes(self._row_count, self._window_count, dimension=self._segment.dimension)

    def compacted(self) -> VectorIndex:
        """The same generation without dead rows. Takes 0.15 s at 50,000 records."""
        segment = self._segment.copied(self._row_count, self._window_count, self._dead)
        return VectorIndex(segment, len(segment), len(segment.windows), NO_ROWS, self._sum, self.epoch, self.model)

    def _next_generation(self, segment: VectorSegment, dead: RowNumbers, vector_sum: FixedPoint) -> VectorIndex:
        return VectorIndex(segment, len(segment), len(segment.windows), dead, vector_sum, self.epoch + 1, self.model)


def expected_bytes(record_count: int, window_count: int = 0, *, dimension: int = DIMENSION) -> int:
    """About the bytes in memory of an index with so many records and windows."""
    vector_bytes = BYTES_A_COMPONENT * dimension + BYTES_A_VECTOR
    return BYTES_AN_INDEX + record_count * (vector_bytes + BYTES_A_RECORD) + window_count * vector_bytes


def _no_sum(segment: VectorSegment) -> FixedPoint:
    return np.zeros(segment.dimension, np.int64)


def _live_sum(segment: VectorSegment, dead: RowNumbers, record_id: RecordId) -> FixedPoint:
    """The record's share of the vector sum; zero if it has no live row."""
    row = segment.row_of.get(record_id)
    return _no_sum(segment) if row is None or row in dead else fixed_sum(segment.wholes.vectors(np.array([row])))


def _with_dead(segment: VectorSegment, dead: RowNumbers, record_id: RecordId) -> RowNumbers:
    """``dead`` and the record's row, if it has a live one."""
    row = segment.row_of.get(record_id)
    return dead if row is None or row in dead else np.append(dead, row)


# Decides which indexes stay in memory.

LARGE_SHARE = 0.5
"""An index that takes more than this share of the memory budget is large."""


def eviction_count(sizes: Sequence[int], most_bytes: int) -> int:
    """How many indexes to evict, from the front of ``sizes``, which begins with the least recently used.

    One large index is not counted, and the most recently used one always stays. Otherwise a project with half a million
    memories, asked in turn with a small one, would be read again for every prompt.
    """
    kept = counted_bytes = large_count = 0
    for size in reversed(sizes):
        if size > most_bytes * LARGE_SHARE:
            large_count += 1
        else:
            counted_bytes += size
        if kept and (counted_bytes > most_bytes or large_count > 1):
            break
        kept += 1
    return len(sizes) - kept


# One search's pass over a generation's vectors: by codes over all of them, exactly over those that may be hits.

SINGLE_PRECISION_ERROR = 7e-5
"""A bound of the float32 error of a product of unit vectors: 1,024 roundings of 2^-24 are 6.2e-5 (found: 3e-7)."""

NEAR_THE_MEAN = 0.1
"""The squared distance from the mean below which centred cosines are computed from the vectors. A product of codes may
be 0.001 off. That is little next to the distance of most vectors (0.6), but much next to a smaller one.
"""

FEW_ROWS = 256
"""Among so few rows the errors of the codes do not cancel, and reading the vectors takes 0.2 ms."""


@attrs.frozen(eq=False)
class Scan:
    """The approximate products of all records, from one pass over all codes."""

    segment: VectorSegment
    center: Center
    owners: Owners
    """The owners of the windows that count."""
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
        """The rows of the live records that may be among the ``count`` nearest; at least ``count`` must live.

        ``owners`` are this scan's, or none, to compare wholes alone.
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
        """The nearness of ``rows``: where all records look alike, codes cannot tell many of them apart."""
        query = self.center.direction[:, np.newaxis]
        firsts, counts = windows_of(rows, owners)
        wholes = self.segment.wholes.products(rows, query)[:, 0]
        windows = self.segment.windows.products(runs(firsts, counts), query)[:, 0]
        return nearness(wholes, windows, np.repeat(np.arange(len(rows)), counts))

    def cosines(self, rows: RowNumbers, owners: Owners) -> Doubles:
        """The nearness of a few records in double precision. It does not depend on the row, so equal vectors tie."""
        few = FewRecords.read(rows, owners, self.segment.wholes, self.segment.windows)
        return few.cosines(self.center.direction)

    def centred_cosines(self) -> Floats:
        """(records,), approximately, with the mean subtracted: for the distribution, not for the order of hits."""
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
    """The ``count``-th highest of ``values``."""
    highest: np.float32 = np.partition(values, len(values) - count)[len(values) - count]
    return highest
