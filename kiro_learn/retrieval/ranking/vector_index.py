"""One namespace's vectors as a value: exact cosine search over all of them, and cheap next generations.

Rules of this file: a generation never changes. A search holds the generation it began with, in whatever thread; next
generations are made by one owner, one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs
import numpy as np

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.retrieval.ranking.standings import Center, Doubles, Standings, Usual, likeness_of
from kiro_learn.retrieval.ranking.vector_shelf import (
    BLOCK_ROWS,
    FIXED_POINT,
    FixedPoint,
    RowNumbers,
    VectorShelf,
    in_fixed_point,
    unit_rows,
)
from kiro_learn.vectors import DIMENSION, Matrix, Vector

SINGLE_PRECISION_ERROR = 1e-5
"""More than float32 is off in the product of two unit vectors of DIMENSION components (found: 3e-7)."""

NO_ROWS: RowNumbers = np.empty(0, np.intp)
NO_SUM: FixedPoint = np.zeros(DIMENSION, np.int64)


@attrs.frozen
class VectorRanking:
    """The records nearest to a query by cosine, and what is usual in their namespace."""

    hits: tuple[Hit, ...] = ()
    """Best first; ``score``: cosine, -1 to 1 up to rounding; ties by newest, then by id."""
    count: int = 0
    """Records in the namespace that have a vector."""
    standings: Standings | None = attrs.field(default=None, eq=False)
    """Where each of them stands; None if nothing was found."""


@attrs.frozen(eq=False)
class Scan:
    """One search's pass over all vectors of a generation, to be made in parts that may run side by side."""

    direction: Vector
    """The query at unit length."""
    mean: Doubles
    """Of the generation's unit vectors."""
    products: Matrix
    """(rows, 2) float32: with ``direction``, and with ``mean``; filled part by part."""

    @property
    def parts(self) -> tuple[range, range]:
        """Half of the rows each."""
        middle = len(self.products) // BLOCK_ROWS // 2 * BLOCK_ROWS
        return range(middle), range(middle, len(self.products))


@attrs.frozen(eq=False)
class VectorIndex:
    """A generation of a namespace's vectors; ``epoch`` counts the generations."""

    _shelf: VectorShelf = attrs.Factory(VectorShelf)
    _row_count: int = 0
    """How much of the shelf this generation knows."""
    _dead: RowNumbers = NO_ROWS
    """Rows of removed or replaced records."""
    _sum: FixedPoint = NO_SUM
    """Of the unit vectors that are alive, in fixed point."""
    epoch: int = 0

    @classmethod
    def of(
        cls, record_ids: Sequence[RecordId], created_ats: Sequence[datetime], vectors: Matrix, *, epoch: int = 0
    ) -> VectorIndex:
        """The index of these records, each of them once. ``vectors``: (n, DIMENSION) float32 of any length, copied."""
        shelf, vector_sum = VectorShelf(), NO_SUM
        for start in range(0, len(record_ids), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            units = unit_rows(vectors[part])
            vector_sum = vector_sum + in_fixed_point(units).sum(axis=0)
            shelf.extend(record_ids[part], created_ats[part], units)
        return cls(shelf, len(shelf), sum=vector_sum, epoch=epoch)

    def __len__(self) -> int:
        return self._row_count - len(self._dead)

    def with_record(self, record_id: RecordId, created_at: datetime, vector: Vector) -> VectorIndex:
        """The next generation, where ``record_id`` has ``vector`` ((DIMENSION,) float32), whatever it had before."""
        shelf, dead = self._shelf_to_go_on_from()
        unit = unit_rows(vector[np.newaxis])[0]
        vector_sum = self._sum - _held(shelf, dead, record_id) + in_fixed_point(unit)
        dead = _also_dead(shelf, dead, record_id)
        shelf.append(record_id, created_at, unit)
        return self._successor(shelf, dead, vector_sum)

    def without(self, record_id: RecordId) -> VectorIndex:
        """The next generation, without ``record_id``; one that is unknown changes nothing but the epoch."""
        shelf, dead = self._shelf_to_go_on_from()
        vector_sum = self._sum - _held(shelf, dead, record_id)
        return self._successor(shelf, _also_dead(shelf, dead, record_id), vector_sum)

    def rank(self, query_vector: Vector, limit: int) -> VectorRanking:
        """The ``limit`` records nearest to ``query_vector``, by exact cosine, and where each record stands.

        A record whose vector is zero or not finite has cosine 0; a query that is either finds nothing. The hits
        depend on the records alone, not on the story of the index.
        """
        scan = self.scan(query_vector)
        for part in scan.parts:
            self.compare(scan, part)
        return self.ranking(scan, limit)

    def scan(self, query_vector: Vector) -> Scan:
        """How ``rank`` begins, where the parts are to be compared side by side."""
        direction = unit_rows(query_vector[np.newaxis])[0]
        mean = self._sum / FIXED_POINT / max(1, len(self))
        return Scan(direction, mean, np.empty((self._row_count, 2), np.float32))

    def compare(self, scan: Scan, part: range) -> None:
        """Fill one part of the products. This is what takes time: every vector is read from memory once."""
        self._shelf.multiply(part, np.stack([scan.direction, scan.mean.astype(np.float32)]), out=scan.products)

    def ranking(self, scan: Scan, limit: int) -> VectorRanking:
        """How ``rank`` ends, once all parts are compared."""
        count = min(limit, len(self))
        if count <= 0 or not scan.direction.any():
            return VectorRanking(count=len(self))
        products = np.delete(scan.products, self._dead, axis=0) if self._dead.size else scan.products
        worst_hit = np.partition(products[:, 0], len(products) - count)[len(products) - count]
        near = np.flatnonzero(scan.products[:, 0] >= worst_hit - SINGLE_PRECISION_ERROR)
        hits = self._hits(np.setdiff1d(near, self._dead, assume_unique=True), scan.direction)[:count]
        return VectorRanking(hits, len(self), self._standings(Center.of(scan.mean, scan.direction), products))

    def _standings(self, center: Center, products: Matrix) -> Standings:
        likeness = likeness_of(self._sum / FIXED_POINT, len(self))
        centred = center.cosines(*np.ascontiguousarray(products.T, np.float64))
        dead = frozenset(self._dead.tolist())
        return Standings(self._shelf, self._row_count, dead, center, Usual.of(centred), likeness)

    def _hits(self, rows: RowNumbers, direction: Vector) -> tuple[Hit, ...]:
        """Hits for ``rows``, best first, compared in double precision.

        The last bits of a single precision product depend on where its row lies. Equal vectors must tie.
        """
        shelf = self._shelf
        vectors = np.stack([shelf.vector(row) for row in rows.tolist()]).astype(np.float64)
        cosines = (vectors * direction).sum(axis=1)
        found = zip(rows.tolist(), cosines.tolist(), strict=True)
        return tuple(best_first(Hit(shelf.record_ids[row], shelf.created_ats[row], cosine) for row, cosine in found))

    def _shelf_to_go_on_from(self) -> tuple[VectorShelf, RowNumbers]:
        """This generation's rows, copied if another generation has already gone on from them."""
        if self._row_count == len(self._shelf):
            return self._shelf, self._dead
        return self._shelf.copied(self._row_count, self._dead), NO_ROWS

    @property
    def dead_share(self) -> float:
        """Of the rows that a search reads, those that belong to no record."""
        return len(self._dead) / max(1, self._row_count)

    def compacted(self) -> VectorIndex:
        """The same generation without dead rows. Takes a tenth of a second at 50,000 records."""
        shelf = self._shelf.copied(self._row_count, self._dead)
        return VectorIndex(shelf, len(shelf), NO_ROWS, self._sum, self.epoch)

    def _successor(self, shelf: VectorShelf, dead: RowNumbers, vector_sum: FixedPoint) -> VectorIndex:
        return VectorIndex(shelf, len(shelf), dead, vector_sum, self.epoch + 1)


def _held(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> FixedPoint:
    """What the record's living row adds to the sum of all."""
    row = shelf.row_of.get(record_id)
    return NO_SUM if row is None or row in dead else in_fixed_point(shelf.vector(row))


def _also_dead(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> RowNumbers:
    """``dead`` and the record's row, if it has a living one."""
    row = shelf.row_of.get(record_id)
    return dead if row is None or row in dead else np.append(dead, row)
