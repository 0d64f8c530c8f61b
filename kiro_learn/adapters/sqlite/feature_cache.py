"""Keeps the ranking features that were read last: the same records come near the top of one prompt after another.

Only what cannot change any more is kept: records and events never do, but an event may still arrive that a record
names as its first.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import apsw

from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.record_reads import get_ranking_features
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import RankingFeatures

MOST_BYTES = 8_000_000
"""Memory of the cache; the least recently used records are evicted."""

BYTES_APIECE = 500
"""Memory of an entry in addition to its texts: their objects and its dictionary entry."""


class RankingFeatureCache:
    """Caches the ranking features of records. Shared by all reading connections."""

    def __init__(self, damaged: DamagedRows, most_bytes: int = MOST_BYTES) -> None:
        self._damaged = damaged
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[RecordId, RankingFeatures] = OrderedDict()
        self._removal_count = 0
        self._lock = threading.Lock()

    def read(self, connection: apsw.Connection, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        """See ``StorageBackend.get_ranking_features``. The cache changes its cost, never its result."""
        with self._lock:
            removal_count = self._removal_count
            known = {record_id: self._kept[record_id] for record_id in record_ids if record_id in self._kept}
            for record_id in known:
                self._kept.move_to_end(record_id)
        missing = [record_id for record_id in record_ids if record_id not in known]
        if not missing:
            return known
        found = get_ranking_features(connection, missing, self._damaged)
        with self._lock:
            if removal_count == self._removal_count:  # else a found record may just have been forgotten
                self._keep(found)
        return known | found

    def remove(self, record_ids: Iterable[RecordId]) -> None:
        """Drop removed records, and let no reader that still saw them put them back."""
        with self._lock:
            self._removal_count += 1
            for record_id in record_ids:
                gone = self._kept.pop(record_id, None)
                if gone is not None:
                    self._bytes -= _size_bytes(gone)

    def _keep(self, found: dict[RecordId, RankingFeatures]) -> None:
        for record_id, features in found.items():
            if features.session_id is not None and record_id not in self._kept:
                self._kept[record_id] = features
                self._bytes += _size_bytes(features)
        while self._bytes > self._most_bytes:
            self._bytes -= _size_bytes(self._kept.popitem(last=False)[1])


def _size_bytes(features: RankingFeatures) -> int:
    return sys.getsizeof(features.text) + sys.getsizeof(features.session_id) + BYTES_APIECE
