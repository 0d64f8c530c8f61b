"""The vectors of records that several generations of an index share: one of each whole record, and those of windows.

Rules of this file: what was appended is never written again, so a reader that knows how much there was when it began
may read that from any thread while one owner goes on appending.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import datetime

import attrs
import numpy as np

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.retrieval.ranking.nearness import NO_OWNERS, Owners, runs, windows_of
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, RowNumbers, VectorRows

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
