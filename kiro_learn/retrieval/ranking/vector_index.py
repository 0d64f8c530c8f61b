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

MOST_DEAD = 0.25
"""Share of removed rows above which an index is written anew, so that a search reads at most a third too much."""

SINGLE_PRECISION_ERROR = 1e-5
"""More than float32 is off in the product of two unit vectors of DIMENSION components (found: 3e-7)."""

NO_ROWS: RowNumbers = np.empty(0, np.intp)
NO_SUM: FixedPoint = np.zeros(DIMENSION, np.int64)


@attrs.frozen
class VectorRanking:
    """The records nearest to a query by cosine, and what is usual in their namespace."""

    hits: tuple[Hit, ...] = ()
    """Best first; ``score``: cosine, -1 to 1 up to rounding; ties by newest, then by id."""
    mean: float = 0.0
    """Of the cosines of all the namespace's records, not only of the hits."""
    std: float = 0.0
    """Population standard deviation of the same cosines."""
    count: int = 0
    """Records in the namespace that have a vector."""
    standings: Standings | None = attrs.field(default=None, eq=False)
    """Where each of them stands; None if nothing was found."""


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
            for row in zip(record_ids[part], created_ats[part], units, strict=True):
                shelf.append(*row)
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
        """The ``limit`` records nearest to ``query_vector``, by exact cosine, and the statistics of all cosines.

        A record whose vector is zero or not finite has cosine 0; a query that is either finds nothing. The hits
        depend on the records alone, not on the story of the index.
        """
        direction = unit_rows(query_vector[np.newaxis])[0]
        count = min(limit, len(self))
        if count <= 0 or not direction.any():
            return VectorRanking(count=len(self))
        mean = self._sum / FIXED_POINT / len(self)
        products = self._shelf.products(self._row_count, np.stack([direction, mean.astype(np.float32)]))
        cosines = products[:, 0]
        live_products = np.delete(products, self._dead, axis=0) if self._dead.size else products
        live = live_products[:, 0]
        worst_hit = np.partition(live, len(live) - count)[len(live) - count]
        near = np.flatnonzero(cosines >= worst_hit - SINGLE_PRECISION_ERROR)
        return VectorRanking(
            hits=self._hits(np.setdiff1d(near, self._dead, assume_unique=True), direction)[:count],
            mean=float(live.mean(dtype=np.float64)),
            std=float(live.std(dtype=np.float64)),
            count=len(self),
            standings=self._standings(Center.of(mean, direction), live_products.astype(np.float64)),
        )

    def _standings(self, center: Center, products: Doubles) -> Standings:
        likeness = likeness_of(self._sum / FIXED_POINT, len(self))
        centred = center.cosines(products[:, 0], products[:, 1])
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

    def _successor(self, shelf: VectorShelf, dead: RowNumbers, vector_sum: FixedPoint) -> VectorIndex:
        if len(dead) > MOST_DEAD * len(shelf):
            shelf, dead = shelf.copied(len(shelf), dead), NO_ROWS
        return VectorIndex(shelf, len(shelf), dead, vector_sum, self.epoch + 1)


def _held(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> FixedPoint:
    """What the record's living row adds to the sum of all."""
    row = shelf.row_of.get(record_id)
    return NO_SUM if row is None or row in dead else in_fixed_point(shelf.vector(row))


def _also_dead(shelf: VectorShelf, dead: RowNumbers, record_id: RecordId) -> RowNumbers:
    """``dead`` and the record's row, if it has a living one."""
    row = shelf.row_of.get(record_id)
    return dead if row is None or row in dead else np.append(dead, row)
