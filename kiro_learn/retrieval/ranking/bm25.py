"""bm25 over postings in memory, to the last bit what FTS5's ``bm25()`` says.

Robertson, Walker, Jones, Hancock-Beaulieu & Gatford, "Okapi at TREC-3", 1994, with FTS5's constants and its one
deviation: the inverse document frequency never falls below 1e-6. Written for arrays, a score costs a hundredth of what
FTS5 takes for it. properties/test_words_rank_as_fts5_ranks_them.py holds the two together.

Rules of this file: documents are numbered from 1 within their namespace; arrays ``by number`` have a place for each.
What is indexed by documents is read with ``take`` and added to with ``add.at``: with ``[]``, int32 indexes take five
times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import attrs
import numpy as np
import numpy.typing as npt

K1 = 1.2
B = 0.75

DOCUMENT_BITS = 32
COLUMN_BITS = 28
"""A key is document << 32 | column << 28 | place in the column; what stands in two columns is never close together."""

GROUPS = 4
"""For each of the best that are wanted: so many groups of documents, and at least so many documents in each."""

Keys = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class PostingList:
    """The postings of one word in a namespace: its documents, with its places in each."""

    documents: Counts
    """(n,) int32 ascending."""
    starts: Counts
    """(n + 1,) int32: where each document's places begin; at the end, how many there are."""
    places: Counts
    """(sum of counts,) int32, document by document: the lower half of a key."""

    @classmethod
    def of(cls, keys: Keys) -> PostingList:
        """``keys``: ascending, each once."""
        documents = (keys >> DOCUMENT_BITS).astype(np.int32)
        is_first = np.ones(len(keys), np.bool_)
        np.not_equal(documents[1:], documents[:-1], out=is_first[1:])
        starts = np.append(is_first.nonzero()[0], len(keys)).astype(np.int32)
        return cls(documents[is_first], starts, keys.astype(np.int32))  # which keeps the lower half

    @property
    def counts(self) -> Counts:
        """(n,) int32, at least 1 each: how often it stands in each document."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def size_bytes(self) -> int:
        """Memory of its three arrays."""
        return self.documents.nbytes + self.starts.nbytes + self.places.nbytes

    def only(self, by_number: Flags) -> PostingList:
        """The postings in documents whose flag in ``by_number`` is set."""
        kept = by_number.take(self.documents)
        if kept.all():
            return self
        counts = self.counts
        return PostingList(self.documents[kept], _starts(counts[kept]), self.places[np.repeat(kept, counts)])

    def followed_by(self, later: Sequence[PostingList]) -> PostingList:
        """These postings, then those of each of ``later``; document numbers ascend from one list to the next."""
        parts = (self, *later)
        before = np.array([0, *(part.starts[-1] for part in parts)], np.int32).cumsum(dtype=np.int32)
        starts = [part.starts[1:] + start for part, start in zip(parts, before, strict=False)]
        return PostingList(
            np.concatenate([part.documents for part in parts]),
            np.concatenate([self.starts[:1], *starts]),
            np.concatenate([part.places for part in parts]),
        )

    def within(self, documents: Counts) -> Keys:
        """The keys in those of ``documents`` (ascending) in which it stands."""
        if not len(self.documents):
            return np.empty(0, np.int64)
        at = self.documents.searchsorted(documents)
        is_there = self.documents.take(at, mode="clip") == documents
        at, documents = at[is_there], documents[is_there]
        first, last = self.starts[at], self.starts[at + 1]
        keys: Keys = documents.astype(np.int64) << DOCUMENT_BITS
        return keys.repeat(last - first) | self.places[_ranges(first, last)]


def _starts(counts: Counts) -> Counts:
    starts = np.zeros(len(counts) + 1, np.int32)
    counts.cumsum(out=starts[1:])
    return starts


def _ranges(firsts: Counts, ends: Counts) -> npt.NDArray[np.int64]:
    """All numbers from each of ``firsts`` to before its end, one range after the other."""
    counts = (ends - firsts).astype(np.int64)
    before = counts.cumsum()
    total = int(before[-1]) if len(before) else 0
    found: npt.NDArray[np.int64] = np.arange(total) + (firsts - before + counts).repeat(counts)
    return found


NOWHERE = PostingList.of(np.empty(0, np.int64))


def norms(lengths: Counts, *, average: float) -> Scores:
    """By number: what a document's length adds to the count of a word. ``average``: of the documents there are."""
    return K1 * (1 - B + B * lengths.astype(np.float64) / average)


def shares(idf: float | Scores, counts: Counts, norms: Scores) -> Scores:
    """(n,): what a phrase adds to documents in which it occurs ``counts`` times; ``norms``: of these documents."""
    frequencies = counts.astype(np.float64)
    share: Scores = frequencies * (K1 + 1.0)
    frequencies += norms
    share /= frequencies
    share *= idf
    return share


def bm25(parts: Iterable[tuple[PostingList, Scores]], count: int) -> Scores:
    """(count,) by number: the score of every document, 0 if no phrase occurs in it.

    ``parts``: phrases with their ``shares``; sums are taken in their order, as FTS5 does.
    """
    scores = np.zeros(count)
    for found, share in parts:
        np.add.at(scores, found.documents, share)
    return scores


def best(scores: Scores, limit: int) -> Counts:
    """The numbers of the ``limit`` best documents with a score above 0, and of all that tie with the last."""
    bound = _bound(scores, limit)
    found = np.flatnonzero(scores >= bound if bound else scores > 0)
    if len(found) > limit:
        reached = scores.take(found)
        found = found[reached >= np.partition(reached, len(found) - limit)[len(found) - limit]]
    return found.astype(np.int32)


def _bound(scores: Scores, limit: int) -> float:
    """A lower bound of the ``limit``-th best score, usually tight; cheaper than a partition of all scores.

    The documents are divided into many more groups than ``limit``, and the best of each group are documents too.
    """
    groups = limit * GROUPS
    rows = len(scores) // groups
    if rows < GROUPS:
        return 0.0
    bests = scores[: rows * groups].reshape(rows, groups).max(axis=0)
    return float(np.partition(bests, groups - limit)[groups - limit])


def phrase(words: Sequence[PostingList]) -> PostingList:
    """The places where ``words`` occur as a phrase: those of its first word. None without words."""
    if len(words) <= 1:
        return words[0] if words else NOWHERE
    shared = _shared(words)
    starts = (word.within(shared) - number for number, word in enumerate(words))
    return PostingList.of(reduce(lambda one, two: np.intersect1d(one, two, assume_unique=True), starts))


def _shared(words: Iterable[PostingList]) -> Counts:
    """The documents that hold all of ``words``; the rarest word decides the cost."""
    shared, *others = sorted((word.documents for word in words), key=len)
    for documents in others:
        if len(shared):
            nearest = documents.take(documents.searchsorted(shared), mode="clip")
            shared = shared[nearest == shared]
    return shared
