"""One namespace's vectors as a value: exact cosine search over all of them, and cheap next generations.

Rules of this file: a generation never changes. A search holds the generation it began with, in whatever thread; next
generations are made by one owner, one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.nearness import NO_OWNERS, Doubles, FewRecords, Floating, Owners, nearness
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.retrieval.ranking.standings import Center, Standings, Usual, likeness_of
from kiro_learn.retrieval.ranking.vector_rows import (
    BLOCK_ROWS,
    FIXED_POINT,
    FixedPoint,
    RowNumbers,
    in_fixed_point,
    unit_rows,
)
from kiro_learn.retrieval.ranking.vector_shelf import VectorShelf
from kiro_learn.vectors import DIMENSION, Matrix, Parts, Vector

SINGLE_PRECISION_ERROR = 1e-5
"""More than float32 is off in the product of two unit vectors of DIMENSION components (found: 3e-7)."""

WHOLES_TOLD = 5
"""As many as whoever weighs them together needs."""

BYTES_A_RECORD = 450
"""Beside its vectors: its id and time, and where it lies (docs/retrieval.md)."""

BYTES_AN_INDEX = 10_000
"""However few records it has."""

NO_ROWS: RowNumbers = np.empty(0, np.intp)
NO_SUM: FixedPoint = np.zeros(DIMENSION, np.int64)


@attrs.frozen
class VectorRanking:
    """The records nearest to a query, and what is usual in their namespace."""

    hits: tuple[Hit, ...] = ()
    """Best first; ``score``: mean cosine of the whole and of the best window, -1 to 1; ties by newest, then by id."""
    count: int = 0
    """Records in the namespace that have a vector."""
    standings: Standings | None = attrs.field(default=None, eq=False)
    """Where each of them stands; None if nothing was found."""
    nearest_wholes: tuple[float, ...] = ()
    """Cosines of the WHOLES_TOLD nearest vectors of whole records, best first, whichever hits there are."""


@attrs.frozen
class Half:
    """Rows that one thread compares."""

    wholes: range
    windows: range


@attrs.frozen(eq=False)
class Scan:
    """One search's pass over all vectors of a generation, to be made in halves that may run side by side."""

    direction: Vector
    """The query at unit length."""
    mean: Doubles
    """Of the unit vectors of the generation's whole records."""
    owners: Owners
    """Of the windows that count."""
    wholes: Matrix
    """(records, 2) float32, of each whole record's vector: its products with ``direction`` and ``mean``."""
    windows: Matrix
    """(windows, 2) float32, the same of each further window's."""

    @property
    def halves(self) -> tuple[Half, Half]:
        """Half of the rows each."""
        first, second = zip(_halves(len(self.wholes)), _halves(len(self.windows)), strict=True)
        return Half(*first), Half(*second)

    def cosines(self) -> Matrix:
        """(records,) float32."""
        return nearness(self.wholes[:, 0], self.windows[:, 0], self.owners)

    def centred_cosines(self, center: Center) -> Doubles:
        """(records,), once the mean is taken off."""
        wholes, windows = (
            center.cosines(*np.ascontiguousarray(of.T, np.float64)) for of in (self.wholes, self.windows)
        )
        return nearness(wholes, windows, self.owners)


@attrs.frozen(eq=False)
class VectorIndex:
    """A generation of a namespace's vectors; ``epoch`` counts the generations."""

    _shelf: VectorShelf = attrs.Factory(VectorShelf)
    _row_count: int = 0
    """How many records of the shelf this generation knows."""
    _window_count: int = 0
    _dead: RowNumbers = NO_ROWS
    """Rows of removed or replaced records."""
    _sum: FixedPoint = NO_SUM
    """Of the unit vectors of whole records that are alive, in fixed point."""
    epoch: int = 0

    @classmethod
    def of(
        cls,
        record_ids: Sequence[RecordId],
        created_ats: Sequence[datetime],
        vectors: Matrix,
        row_counts: Sequence[int] | None = None,
        *,
        epoch: int = 0,
    ) -> VectorIndex:
        """The index of these records, each of them once.

        ``vectors``: (n, DIMENSION) float32 of any length, copied; a row a record, or ``row_counts[i]`` the i-th.
        """
        shelf, vector_sum = VectorShelf(), NO_SUM
        counts = np.ones(len(record_ids), np.intp) if row_counts is None else np.array(row_counts, np.intp)
        ends = np.cumsum(counts)
        for start in range(0, len(record_ids), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            firsts = (ends - counts)[part]
            units = unit_rows(vectors[firsts[0] : ends[part][-1]])
            wholes, windows = units[firsts - firsts[0]], np.delete(units, firsts - firsts[0], axis=0)
            vector_sum = vector_sum + in_fixed_point(wholes).sum(axis=0)
            shelf.extend(record_ids[part], created_ats[part], wholes, windows, counts[part] - 1)
        return cls(shelf, len(shelf), len(shelf.windows), sum=vector_sum, epoch=epoch)

    def __len__(self) -> int:
        return self._row_count - len(self._dead)

    @property
    def row_count(self) -> int:
        """How many vectors a search compares."""
        return self._row_count + self._window_count

    def with_record(self, record_id: RecordId, created_at: datetime, parts: Parts) -> VectorIndex:
        """The next generation, where ``record_id`` has ``parts`` of any length, whatever it had before."""
        shelf, dead = self._shelf_to_go_on_from()
        units = unit_rows(parts)
        vector_sum = self._sum - _held(shelf, dead, record_id) + in_fixed_point(units[0])
        dead = _also_dead(shelf, dead, record_id)
        shelf.extend([record_id], [created_at], units[:1], units[1:], np.array([len(units) - 1]))
        return self._successor(shelf, dead, vector_sum)

    def without(self, record_id: RecordId) -> VectorIndex:
        """The next generation, without ``record_id``; one that is unknown changes nothing but the epoch."""
        shelf, dead = self._shelf_to_go_on_from()
        vector_sum = self._sum - _held(shelf, dead, record_id)
        return self._successor(shelf, _also_dead(shelf, dead, record_id), vector_sum)

    def rank(self, query_vector: Vector, limit: int, *, wholes_only: bool = False) -> VectorRanking:
        """The ``limit`` records nearest to ``query_vector``, by exact cosines, and where each record stands.

        A record is as near as its whole and its best window are on average; ``wholes_only``: as its whole. A vector
        that is zero or not finite has cosine 0; a query that is either finds nothing. The hits depend on the records
        alone, not on the story of the index.
        """
        scan = self.scan(query_vector, wholes_only=wholes_only)
        for half in scan.halves:
            self.compare(scan, half)
        return self.ranking(scan, limit)

    def scan(self, query_vector: Vector, *, wholes_only: bool = False) -> Scan:
        """How ``rank`` begins, where the halves are to be compared side by side."""
        direction = unit_rows(query_vector[np.newaxis])[0]
        mean = self._sum / FIXED_POINT / max(1, len(self))
        owners = NO_OWNERS if wholes_only else self._shelf.owners(self._window_count)
        wholes, windows = (np.empty((count, 2), np.float32) for count in (self._row_count, len(owners)))
        return Scan(direction, mean, owners, wholes, windows)

    def compare(self, scan: Scan, half: Half) -> None:
        """Fill one half of the products. This is what takes time: every vector is read from memory once."""
        directions = np.stack([scan.direction, scan.mean.astype(np.float32)])
        self._shelf.wholes.multiply(half.wholes, directions, out=scan.wholes)
        self._shelf.windows.multiply(half.windows, directions, out=scan.windows)

    def ranking(self, scan: Scan, limit: int) -> VectorRanking:
        """How ``rank`` ends, once both halves are compared."""
        count = min(max(limit, WHOLES_TOLD), len(self))
        if limit <= 0 or count == 0 or not scan.direction.any():
            return VectorRanking(count=len(self))
        nearest = self._hits(self._nearest(scan.cosines(), count), scan)
        if scan.owners.size:
            nearest_wholes = self._nearest_wholes(scan)
        else:
            nearest_wholes = tuple(hit.score for hit in nearest[:WHOLES_TOLD])
        return VectorRanking(nearest[:limit], len(self), self._standings(scan), nearest_wholes)

    def _nearest(self, cosines: Matrix, count: int) -> RowNumbers:
        """The rows of the records that may be among the ``count`` nearest, by ``cosines`` in single precision."""
        alive = self._alive(cosines)
        worst = np.partition(alive, len(alive) - count)[len(alive) - count]
        near = np.flatnonzero(cosines >= worst - SINGLE_PRECISION_ERROR)
        return np.setdiff1d(near, self._dead, assume_unique=True)

    def _nearest_wholes(self, scan: Scan) -> tuple[float, ...]:
        rows = self._nearest(scan.wholes[:, 0], min(WHOLES_TOLD, len(self)))
        vectors = self._shelf.wholes.take(rows).astype(np.float64)
        cosines = sorted((vectors * scan.direction).sum(axis=1).tolist(), reverse=True)
        return tuple(cosines[:WHOLES_TOLD])

    def _standings(self, scan: Scan) -> Standings:
        center = Center.of(scan.mean, scan.direction)
        usual = Usual.of(self._alive(scan.centred_cosines(center)))
        likeness = likeness_of(self._sum / FIXED_POINT, len(self))
        dead = frozenset(self._dead.tolist())
        return Standings(self._shelf, self._row_count, dead, scan.owners, center, usual, likeness)

    def _hits(self, rows: RowNumbers, scan: Scan) -> tuple[Hit, ...]:
        """Hits for ``rows``, best first, compared in double precision, so that equal vectors tie."""
        shelf = self._shelf
        few = FewRecords.read(rows, scan.owners, shelf.wholes, shelf.windows)
        wholes, windows = ((vectors * scan.direction).sum(axis=1) for vectors in (few.wholes, few.windows))
        found = zip(rows.tolist(), nearness(wholes, windows, few.owners).tolist(), strict=True)
        return tuple(best_first(Hit(shelf.record_ids[row], shelf.created_ats[row], cosine) for row, cosine in found))

    def _alive(self, values: npt.NDArray[Floating]) -> npt.NDArray[Floating]:
        """``values`` (records,), less those of the dead."""
        return np.delete(values, self._dead) if self._dead.size else values

    def _shelf_to_go_on_from(self) -> tuple[VectorShelf, RowNumbers]:
        """This generation's rows, copied if another generation has already gone on from them."""
        if self._row_count == len(self._shelf):
            return self._shelf, self._dead
        return self._shelf.copied(self._row_count, self._window_count, self._dead), NO_ROWS

    @property
    def dead_share(self) -> float:
        """Of the records that a search reads, those that are gone."""
        return len(self._dead) / max(1, self._row_count)

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory, dead rows included."""
        return expected_bytes(self._row_count, self._window_count)

    def compacted(self) -> VectorIndex:
        """The same generation without dead rows. Takes a tenth of a second at 50,000 records."""
        shelf = self._shelf.copied(self._row_count, self._window_count, self._dead)
        return VectorIndex(shelf, len(shelf), len(shelf.windows), NO_ROWS, self._sum, self.epoch)

    def _successor(self, shelf: VectorShelf, dead: RowNumbers, vector_sum: FixedPoint) -> VectorIndex:
        return VectorIndex(shelf, len(shelf), len(shelf.windows), dead, vector_sum, self.epoch + 1)


def expected_bytes(record_count: int, window_count: int = 0) -> int:
    """About what an index of so many records takes in memory."""
    vector_bytes = DIMENSION * np.dtype(np.float32).itemsize
    return BYTES_AN_INDEX + record_count * (vector_bytes + BYTES_A_RECORD) + window_count * vector_bytes


def _halves(row_count: int) -> tuple[range, range]:
    middle = row_count // BLOCK_ROWS // 2 * BLOCK_ROWS
    return range(middle), range(middle, row_count)


def _held(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> FixedPoint:
    """What the record's living row adds to the sum of all."""
    row = shelf.row_of.get(record_id)
    return NO_SUM if row is None or row in dead else in_fixed_point(shelf.wholes[row])


def _also_dead(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> RowNumbers:
    """``dead`` and the record's row, if it has a living one."""
    row = shelf.row_of.get(record_id)
    return dead if row is None or row in dead else np.append(dead, row)
