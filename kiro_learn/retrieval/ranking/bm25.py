"""bm25 over postings in memory, to the last bit what FTS5's ``bm25()`` says.

Robertson, Walker, Jones, Hancock-Beaulieu & Gatford, "Okapi at TREC-3", 1994, with FTS5's constants and its one
deviation: the inverse document frequency never falls below 1e-6. Written for arrays, a score costs a hundredth of what
FTS5 takes for it. properties/test_words_rank_as_fts5_ranks_them.py holds the two together.

Rules of this file: documents are numbered from 1 within their namespace; arrays ``by number`` have a place for each.
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

Keys = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class Occurrences:
    """Where one word stands in a namespace: which documents, how often in each, and at which places."""

    documents: Counts
    """(n,) int32 ascending."""
    counts: Counts
    """(n,) int32, at least 1 each."""
    places: Counts
    """(sum of counts,) int32, document by document: the lower half of a key."""

    @classmethod
    def of(cls, keys: Keys) -> Occurrences:
        """``keys``: ascending, each once."""
        documents = (keys >> DOCUMENT_BITS).astype(np.int32)
        is_first = np.ones(len(keys), np.bool_)
        np.not_equal(documents[1:], documents[:-1], out=is_first[1:])
        starts = np.append(is_first.nonzero()[0], len(keys))
        counts = (starts[1:] - starts[:-1]).astype(np.int32)
        return cls(documents[is_first], counts, keys.astype(np.int32))  # which keeps the lower half

    @property
    def size_bytes(self) -> int:
        return self.documents.nbytes + self.counts.nbytes + self.places.nbytes

    def only(self, by_number: Flags) -> Occurrences:
        """Those in documents that ``by_number`` names."""
        kept = by_number[self.documents]
        if kept.all():
            return self
        return Occurrences(self.documents[kept], self.counts[kept], self.places[np.repeat(kept, self.counts)])

    def followed_by(self, later: Occurrences) -> Occurrences:
        """These, then those of ``later``, whose documents all have higher numbers."""
        return Occurrences(
            np.concatenate([self.documents, later.documents]),
            np.concatenate([self.counts, later.counts]),
            np.concatenate([self.places, later.places]),
        )

    def within(self, documents: Counts) -> Keys:
        """The keys in ``documents`` (ascending), in all of which it stands."""
        found = self.documents.searchsorted(documents)
        counts = self.counts[found]
        ends = self.counts.cumsum(dtype=np.int64)[found]
        places = self.places[np.arange(counts.sum()) + (ends - counts.cumsum()).repeat(counts)]
        keys: Keys = (documents.astype(np.int64) << DOCUMENT_BITS).repeat(counts) | places
        return keys


NOWHERE = Occurrences.of(np.empty(0, np.int64))


def norms(lengths: Counts, *, average: float) -> Scores:
    """By number: what a document's length adds to the count of a word. ``average``: of the documents there are."""
    return K1 * (1 - B + B * lengths.astype(np.float64) / average)


def bm25(phrases: Iterable[tuple[float, Occurrences]], norms: Scores) -> Scores:
    """By number: the score of every document, 0 where none of the phrases stands.

    ``phrases``: each with its inverse document frequency, above 0; sums are taken in their order, as FTS5 does.
    """
    scores = np.zeros(len(norms))
    for idf, found in phrases:
        add(scores, idf, found, norms)
    return scores


def add(scores: Scores, idf: float, found: Occurrences, norms: Scores) -> None:
    """Add one phrase's share to ``scores``."""
    counts = found.counts.astype(np.float64)
    scores[found.documents] += idf * (counts * (K1 + 1.0) / (counts + norms[found.documents]))


def best(scores: Scores, limit: int) -> Counts:
    """The numbers of the ``limit`` best documents that score at all, and of all that score as much as the last."""
    found = np.flatnonzero(scores).astype(np.int32)
    if len(found) <= limit:
        return found
    reached = scores[found]
    last = np.partition(reached, len(reached) - limit)[len(reached) - limit]
    reaching: Counts = found[reached >= last]
    return reaching


def phrase(words: Sequence[Occurrences]) -> Occurrences:
    """Where ``words`` stand one right after the other: the places of the first. Without words, nowhere."""
    if len(words) <= 1:
        return words[0] if words else NOWHERE
    shared = _shared(words)
    starts = (word.within(shared) - number for number, word in enumerate(words))
    return Occurrences.of(reduce(lambda one, two: np.intersect1d(one, two, assume_unique=True), starts))


def close_together(
    first: Occurrences, second: Occurrences, *, lengths: tuple[int, int], distance: int, wanted: Flags | None = None
) -> tuple[Occurrences, Occurrences]:
    """What of two phrases stands at most ``distance`` words from the other one.

    Args:
      lengths: words of each.
      wanted: by number, the documents that are looked at; all of them if it is None.
    """
    shared = _shared((first, second), wanted)
    if not len(shared):
        return NOWHERE, NOWHERE
    one, two = first.within(shared), second.within(shared)
    after_one, after_two = (length + distance for length in lengths)
    return (
        Occurrences.of(one[_has_any(two, one - after_two, one + after_one)]),
        Occurrences.of(two[_has_any(one, two - after_one, two + after_two)]),
    )


def _shared(words: Iterable[Occurrences], wanted: Flags | None = None) -> Counts:
    """The documents that hold all of ``words``; the rarest decides what that costs."""
    shared, *others = sorted((word.documents for word in words), key=len)
    if wanted is not None:
        shared = shared[wanted[shared]]
    for documents in others:
        if len(shared):
            nearest = documents.take(documents.searchsorted(shared), mode="clip")
            shared = shared[nearest == shared]
    return shared


def _has_any(sorted_keys: Keys, least: Keys, most: Keys) -> Flags:
    """For each pair of bounds, both included, whether one of ``sorted_keys`` lies between."""
    if not len(sorted_keys):
        return np.zeros(len(least), np.bool_)
    nearest = sorted_keys.take(sorted_keys.searchsorted(least), mode="clip")
    found: Flags = (nearest >= least) & (nearest <= most)
    return found
