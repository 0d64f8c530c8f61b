"""One namespace's words in memory: how long its documents are, and where the words that were asked for stand.

FTS5 keeps the postings and finds them; it takes 2 µs to score one match, and a prompt has tens of thousands. So what
was read of its postings is kept, and scored in arrays (``retrieval/ranking/bm25.py``).

Rules of this file: an index is one state of the namespace and is only added to; the next state is another index, made
from this one. Threads may share one: whatever two of them read at once is the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import attrs
import numpy as np

from kiro_learn.retrieval.ranking.bm25 import COLUMN_BITS, DOCUMENT_BITS, Counts, Occurrences, Scores, norms, phrase

BYTES_A_DOCUMENT = 512
"""Of postings that are kept; the words asked for longest ago make room."""
FEWEST_BYTES = 1_000_000

Tokens: TypeAlias = tuple[str, ...]
Columns: TypeAlias = tuple[Tokens, ...]
Arrivals: TypeAlias = Mapping[int, Columns]
"""New documents by number, ascending: the tokens of each column."""


@attrs.frozen
class Totals:
    """What tells one state of a namespace's index from the next."""

    last_number: int
    """The highest number that a document was ever given."""
    documents: int
    tokens: int


class WordIndex:
    """The documents of one state, and the postings of words that somebody asked for."""

    def __init__(self, totals: Totals, lengths: Counts, kept: Iterable[tuple[Tokens, Occurrences]] = ()) -> None:
        self.totals = totals
        self.norms: Scores = norms(lengths, average=totals.tokens / totals.documents or 1.0)
        self._lengths = lengths
        self._most_bytes = FEWEST_BYTES + BYTES_A_DOCUMENT * totals.documents
        self._bytes = 0
        self._kept: OrderedDict[Tokens, Occurrences] = OrderedDict()
        self._lock = threading.Lock()
        for tokens, found in kept:
            self._keep(tokens, found)

    def occurrences(self, tokens: Tokens, read: Callable[[str], Occurrences]) -> Occurrences:
        """Where ``tokens`` stand in a row; ``read`` is asked for a single one that is not kept."""
        with self._lock:
            found = self._kept.get(tokens)
            if found is not None:
                self._kept.move_to_end(tokens)
                return found
        is_phrase = len(tokens) != 1
        found = phrase([self.occurrences((token,), read) for token in tokens]) if is_phrase else read(tokens[0])
        with self._lock:
            self._keep(tokens, found)
        return found

    def with_arrivals(self, totals: Totals, arrivals: Arrivals) -> WordIndex:
        """The next state, if all that happened is that these documents came."""
        lengths = np.zeros(totals.last_number + 1, np.int32)
        lengths[: len(self._lengths)] = self._lengths
        for number, columns in arrivals.items():
            lengths[number] = sum(map(len, columns))
        new = _postings_of(arrivals)
        return WordIndex(totals, lengths, ((tokens, _after(found, tokens, new)) for tokens, found in self._snapshot()))

    def with_lengths(self, totals: Totals, lengths: Counts) -> WordIndex:
        """The next state, if documents went; without what was kept if one came back or is not what it was."""
        before = self._lengths
        if ((lengths > 0) & (lengths != before)).any():
            return WordIndex(totals, lengths)
        alive = lengths > 0
        return WordIndex(totals, lengths, ((tokens, found.only(alive)) for tokens, found in self._snapshot()))

    def explains(self, totals: Totals, arrivals: Arrivals) -> bool:
        """Whether this state and ``arrivals`` add up to ``totals``."""
        tokens = sum(len(column) for columns in arrivals.values() for column in columns)
        found = (self.totals.documents + len(arrivals), self.totals.tokens + tokens)
        return found == (totals.documents, totals.tokens)

    def _snapshot(self) -> list[tuple[Tokens, Occurrences]]:
        with self._lock:
            return list(self._kept.items())

    def _keep(self, tokens: Tokens, found: Occurrences) -> None:
        if tokens not in self._kept:
            self._kept[tokens] = found
            self._bytes += found.size_bytes
            while self._bytes > self._most_bytes:
                self._bytes -= self._kept.popitem(last=False)[1].size_bytes


def _postings_of(arrivals: Arrivals) -> Mapping[str, Occurrences]:
    keys: defaultdict[str, list[int]] = defaultdict(list)
    for number, columns in arrivals.items():
        for column, tokens in enumerate(columns):
            for place, token in enumerate(tokens):
                keys[token].append(number << DOCUMENT_BITS | column << COLUMN_BITS | place)
    return {token: Occurrences.of(np.array(found, np.int64)) for token, found in keys.items()}


def _after(found: Occurrences, tokens: Tokens, new: Mapping[str, Occurrences]) -> Occurrences:
    if not all(token in new for token in tokens):
        return found
    return found.followed_by(phrase([new[token] for token in tokens]))
