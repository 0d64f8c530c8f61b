"""Keeps the word indexes of the namespaces in use, each as of the state that was searched last."""

from __future__ import annotations

import threading
from collections import OrderedDict

from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.namespace import Namespace
from kiro_learn.storage.sqlite.record_keys import RecordKeys
from kiro_learn.storage.sqlite.word_index import Totals, WordIndex
from kiro_learn.storage.sqlite.word_reads import WordReads

MOST_NAMESPACES = 16
"""Kept at once; the one searched longest ago makes room."""

MOST_ARRIVALS = 1_000
"""New documents that are added to what is kept; with more, reading anew costs no more."""


class WordIndexes:
    """Shared by all reading connections, each of which may be in another state of the database."""

    def __init__(self) -> None:
        self.records = RecordKeys()
        self._indexes: OrderedDict[Namespace, WordIndex] = OrderedDict()
        self._doubted: set[Namespace] = set()
        self._lock = threading.Lock()

    def index_at(self, namespace: Namespace, totals: Totals, reads: WordReads) -> WordIndex:
        """The index of ``namespace`` in the state in which ``reads`` reads it, which ``totals`` tells."""
        with self._lock:
            known = self._indexes.get(namespace)
            is_doubted = namespace in self._doubted
        if known is not None and known.totals == totals and not is_doubted:
            return known
        found = _advanced(known, totals, reads, is_doubted=is_doubted) if known is not None else None
        if found is None:
            found = WordIndex(totals, reads.lengths(totals.last_number))
        with self._lock:
            self._put(namespace, found)
        return found

    def doubt(self, namespace: Namespace) -> None:
        """Documents went, or came back, which totals alone do not always show."""
        with self._lock:
            self._doubted.add(namespace)

    def _put(self, namespace: Namespace, index: WordIndex) -> None:
        known = self._indexes.get(namespace)
        if known is None or known.totals.last_number <= index.totals.last_number:
            self._indexes[namespace] = index
            self._doubted.discard(namespace)
        self._indexes.move_to_end(namespace)
        while len(self._indexes) > MOST_NAMESPACES:
            self._indexes.popitem(last=False)


def _advanced(known: WordIndex, totals: Totals, reads: WordReads, *, is_doubted: bool) -> WordIndex | None:
    """The index at ``totals``, made from ``known``; None if it has to be read anew."""
    before = known.totals.last_number
    if not 0 <= totals.last_number - before <= MOST_ARRIVALS:
        return None
    try:
        arrivals = reads.arrivals(before, totals.last_number)
    except StorageCorrupt:  # a row cannot be read; its words were indexed when it could be
        return None
    grown = known.with_arrivals(totals, arrivals)
    if is_doubted or not known.explains(totals, arrivals):
        return grown.with_lengths(totals, reads.lengths(totals.last_number))
    return grown
