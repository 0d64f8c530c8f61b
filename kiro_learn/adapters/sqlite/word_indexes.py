"""Keeps the word indexes of the namespaces in use, each as of the state that was searched last."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict

from kiro_learn.adapters.sqlite.records import RecordKeys
from kiro_learn.adapters.sqlite.word_index import Totals, WordIndex
from kiro_learn.adapters.sqlite.word_reads import WordReads
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.ranking.signals import eviction_count

MOST_BYTES = 256_000_000
"""Memory of all indexes except one large one; the least recently used are evicted."""

MOST_ARRIVALS = 1_000
"""Most new documents that are added to an index in memory; with more, reading it again costs no more."""


class WordIndexes:
    """Word indexes in memory, by namespace. Shared by all reading connections, which may see different states."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.records = RecordKeys()
        self._most_bytes = most_bytes
        self._indexes: OrderedDict[Namespace, tuple[WordIndex, int]] = OrderedDict()
        """Each with the count of doubts when it was made."""
        self._doubts: Counter[Namespace] = Counter()
        self._lock = threading.Lock()

    def index_at(self, namespace: Namespace, totals: Totals, reads: WordReads) -> WordIndex:
        """The index of ``namespace`` in the state that ``reads`` reads, which has these ``totals``."""
        with self._lock:
            doubts = self._doubts[namespace]
            known, doubts_then = self._indexes.get(namespace, (None, doubts))
        is_doubted = doubts != doubts_then
        found: WordIndex | None = None
        if known is not None:
            is_same = known.totals == totals and not is_doubted
            found = known if is_same else _advanced(known, totals, reads, is_doubted=is_doubted)
        if found is None:
            found = WordIndex(totals, reads.lengths(totals))
        with self._lock:
            self._put(namespace, found, doubts)
        return found

    def doubt(self, namespace: Namespace) -> None:
        """Note that documents were removed or restored, which totals alone do not always show."""
        with self._lock:
            self._doubts[namespace] += 1

    def discard(self, namespace: Namespace) -> None:
        """Discard the index, since its table is damaged."""
        with self._lock:
            self._indexes.pop(namespace, None)

    def _put(self, namespace: Namespace, index: WordIndex, doubts: int) -> None:
        known, _ = self._indexes.get(namespace, (index, doubts))
        if known.totals.last_number <= index.totals.last_number:
            self._indexes[namespace] = (index, doubts)
        self._indexes.move_to_end(namespace)
        for _ in range(eviction_count([kept.size_bytes for kept, _ in self._indexes.values()], self._most_bytes)):
            self._indexes.popitem(last=False)


def _advanced(known: WordIndex, totals: Totals, reads: WordReads, *, is_doubted: bool) -> WordIndex | None:
    """The index at ``totals``, made from ``known``; None if it has to be read again."""
    before = known.totals.last_number
    if not 0 <= totals.last_number - before <= MOST_ARRIVALS:
        return None
    try:
        arrivals = reads.arrivals(before, totals.last_number)
    except StorageCorrupt:  # a row cannot be read; its words were indexed when it could be
        return None
    grown = known.with_arrivals(totals, arrivals)
    if is_doubted or not known.explains(totals, arrivals):
        return grown.with_lengths(totals, reads.lengths(totals))
    return grown
