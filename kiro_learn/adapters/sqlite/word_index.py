"""One namespace's words in memory: the lengths of its documents, and the postings of words that were looked up.

FTS5 stores the postings, but takes 2 µs to score one match, and a prompt has tens of thousands. So postings that were
read are kept, and scored in arrays (``retrieval/ranking/bm25.py``).

Rules of this file: an index is one state of the namespace, and only cached words are added to it; the next state is
another index, made from this one. Threads may share one, since all of them read the same from it. New documents are
added to a word's postings only when the word is asked for again, so that a write costs what the next query needs.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs
import numpy as np

from kiro_learn.retrieval.ranking.bm25 import COLUMN_BITS, DOCUMENT_BITS, Counts, PostingList, Scores, norms, phrase

BYTES_A_DOCUMENT = 512
"""The memory for cached postings, for each document of the index; the least recently used words are evicted."""
FEWEST_BYTES = 1_000_000
BYTES_APIECE = 700
"""The memory of a word without its arrays: their objects and its dictionary entry."""
BYTES_A_STATE = 10_000
"""The rough memory of an index without cached words."""
BYTES_A_TOKEN = 200
"""The rough memory of a token in a new document that is not merged yet."""

MOST_WAITING = 256
"""The most new documents that wait until a cached word is asked for; more are merged into all cached words."""

Tokens: TypeAlias = tuple[str, ...]
Columns: TypeAlias = tuple[Tokens, ...]
Arrivals: TypeAlias = Mapping[int, Columns]
"""The tokens of each column of new documents, by the document's number, ascending."""


Postings: TypeAlias = Mapping[str, list[int]]
"""The keys of each token, ascending, in documents that were added together."""


@attrs.frozen
class Totals:
    """Counts of one state of a namespace's index; they differ between any two states."""

    last_number: int
    """The highest number that a document was ever given."""
    documents: int
    tokens: int


@attrs.frozen(eq=False)
class _Kept:
    """A word's postings, in the state whose highest number is ``through``."""

    found: PostingList
    through: int
    size_bytes: int = attrs.field(init=False)

    @size_bytes.default
    def _sum(self) -> int:
        return self.found.size_bytes + BYTES_APIECE


Kept: TypeAlias = dict[Tokens, _Kept]
"""Cached words, the least recently used first. A plain dict, since each searched state copies it."""


@attrs.frozen(eq=False)
class _Batch:
    """Documents that were added between two states."""

    through: int
    """The highest number in the later state."""
    count: int
    postings: Postings


class WordIndex:
    """The documents of one state of an index, and the postings of the words that were looked up."""

    def __init__(
        self,
        totals: Totals,
        lengths: Counts,
        kept: Kept | None = None,
        waiting: tuple[_Batch, ...] = (),
        kept_bytes: int | None = None,
    ) -> None:
        self.totals = totals
        self.norms: Scores = norms(lengths, average=totals.tokens / totals.documents or 1.0)
        self._lengths = lengths
        self._most_bytes = FEWEST_BYTES + BYTES_A_DOCUMENT * totals.documents
        self._kept = {} if kept is None else kept
        self._waiting = waiting
        """New documents that cached words may lack, in order."""
        self._bytes = sum(each.size_bytes for each in self._kept.values()) if kept_bytes is None else kept_bytes
        self._other_bytes = BYTES_A_STATE + self.norms.nbytes + lengths.nbytes
        self._other_bytes += BYTES_A_TOKEN * sum(len(batch.postings) for batch in waiting)
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        return self._bytes + self._other_bytes

    def occurrences(self, tokens: Tokens, read: Callable[[str], PostingList]) -> PostingList:
        """The postings of the phrase ``tokens``; ``read`` gives those of a token that is not cached."""
        with self._lock:
            kept = self._kept.get(tokens)
            if kept is not None:
                self._kept[tokens] = self._kept.pop(tokens)
        if kept is not None and kept.through == self.totals.last_number:
            return kept.found
        if kept is not None:
            found = self._caught_up(tokens, kept)
        elif len(tokens) == 1:
            found = read(tokens[0])
        else:
            found = phrase([self.occurrences((token,), read) for token in tokens])
        with self._lock:
            self._keep(tokens, _Kept(found, self.totals.last_number))
        return found

    def with_arrivals(self, totals: Totals, arrivals: Arrivals) -> WordIndex:
        """The next state, to which only the documents in ``arrivals`` were added."""
        lengths = np.zeros(totals.last_number + 1, np.int32)
        lengths[: len(self._lengths)] = self._lengths
        for number, columns in arrivals.items():
            lengths[number] = sum(map(len, columns))
        waiting = (*self._waiting, _Batch(totals.last_number, len(arrivals), _postings_of(arrivals)))
        with self._lock:
            kept, kept_bytes = self._kept.copy(), self._bytes
        grown = WordIndex(totals, lengths, kept, waiting, kept_bytes)
        if sum(batch.count for batch in waiting) > MOST_WAITING:
            return WordIndex(totals, lengths, grown._all_caught_up())
        return grown

    def with_lengths(self, totals: Totals, lengths: Counts) -> WordIndex:
        """The next state after documents were removed. If one was restored or changed, no cached words are kept."""
        before = self._lengths
        if ((lengths > 0) & (lengths != before)).any():
            return WordIndex(totals, lengths)
        alive = lengths > 0
        kept = self._all_caught_up().items()
        return WordIndex(
            totals, lengths, {tokens: _Kept(each.found.only(alive), totals.last_number) for tokens, each in kept}
        )

    def explains(self, totals: Totals, arrivals: Arrivals) -> bool:
        """Whether this state and ``arrivals`` add up to ``totals``."""
        tokens = sum(len(column) for columns in arrivals.values() for column in columns)
        found = (self.totals.documents + len(arrivals), self.totals.tokens + tokens)
        return found == (totals.documents, totals.tokens)

    def _all_caught_up(self) -> Kept:
        with self._lock:
            kept = self._kept.copy()
        through = self.totals.last_number
        return {tokens: _Kept(self._caught_up(tokens, each), through) for tokens, each in kept.items()}

    def _caught_up(self, tokens: Tokens, kept: _Kept) -> PostingList:
        missing = (batch.postings for batch in self._waiting if batch.through > kept.through)
        later = [_new(tokens, postings) for postings in missing if all(token in postings for token in tokens)]
        return kept.found.followed_by(later) if later else kept.found

    def _keep(self, tokens: Tokens, kept: _Kept) -> None:
        before = self._kept.pop(tokens, None)
        self._bytes += kept.size_bytes - (before.size_bytes if before is not None else 0)
        self._kept[tokens] = kept
        while self._bytes > self._most_bytes:
            self._bytes -= self._kept.pop(next(iter(self._kept))).size_bytes


def _postings_of(arrivals: Arrivals) -> Postings:
    keys: defaultdict[str, list[int]] = defaultdict(list)
    for number, columns in arrivals.items():
        for column, tokens in enumerate(columns):
            for place, token in enumerate(tokens):
                keys[token].append(number << DOCUMENT_BITS | column << COLUMN_BITS | place)
    return dict(keys)


def _new(tokens: Tokens, postings: Postings) -> PostingList:
    return phrase([PostingList.of(np.array(postings[token], np.int64)) for token in tokens])
