"""Ranks texts by their words: bm25 over postings, pairs of words that stand close, and contained words.

The bm25 scores are those of FTS5 to the last bit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.retrieval import Hit, LexicalRanking, best_first
from kiro_learn.retrieval.query.syntax import ideal_score, inverse_document_frequency

# bm25 over postings in memory, equal to FTS5's ``bm25()`` to the last bit.
#
# Robertson, Walker, Jones, Hancock-Beaulieu & Gatford, "Okapi at TREC-3", 1994, with FTS5's constants and its one
# deviation: the inverse document frequency never falls below 1e-6. Written for arrays, a score costs a hundredth of
# what FTS5 takes for it. properties/test_words_rank_as_fts5_ranks_them.py compares the two.
#
# Rules of this part: documents are numbered from 1 within their namespace. Arrays ``by number`` have a place for each
# number. Arrays that are indexed by documents are read with ``take`` and added to with ``add.at``: with ``[]``, int32
# indexes take five times as long.

K1 = 1.2
B = 0.75

DOCUMENT_BITS = 32
COLUMN_BITS = 28
"""A key is document << 32 | column << 28 | place in the column. Words in two columns are never close together."""

GROUPS = 4
"""For each wanted document, how many groups of documents there are, and at least how many documents each group has."""

Keys = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class PostingList:
    """The postings of one word in a namespace: its documents, and its places in each."""

    documents: Counts
    """(n,) int32 ascending."""
    starts: Counts
    """(n + 1,) int32: where each document's places begin; at the end, the number of all places."""
    places: Counts
    """(sum of counts,) int32, document by document: the lower half of a key."""

    @classmethod
    def of(cls, keys: Keys) -> PostingList:
        """The postings with these ``keys``, which must ascend, each once."""
        documents = (keys >> DOCUMENT_BITS).astype(np.int32)
        is_first = np.ones(len(keys), np.bool_)
        np.not_equal(documents[1:], documents[:-1], out=is_first[1:])
        starts = np.append(is_first.nonzero()[0], len(keys)).astype(np.int32)
        return cls(documents[is_first], starts, keys.astype(np.int32))  # which keeps the lower half

    @property
    def counts(self) -> Counts:
        """(n,) int32, at least 1 each: how often the word stands in each document."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def size_bytes(self) -> int:
        """The memory of the three arrays in bytes."""
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
        """The keys of the word in ``documents`` (ascending)."""
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
    """By number: how much a document's length adds to the count of a word. ``average``: of all documents' lengths."""
    return K1 * (1 - B + B * lengths.astype(np.float64) / average)


def shares(idf: float | Scores, counts: Counts, norms: Scores) -> Scores:
    """(n,): the part of a phrase in the score of documents that have it ``counts`` times; ``norms``: theirs."""
    frequencies = counts.astype(np.float64)
    share: Scores = frequencies * (K1 + 1.0)
    frequencies += norms
    share /= frequencies
    share *= idf
    return share


def bm25(parts: Iterable[tuple[PostingList, Scores]], count: int) -> Scores:
    """(count,) by number: the score of every document, 0 if no phrase occurs in it.

    ``parts`` are phrases with their ``shares``. Sums are taken in their order, as FTS5 does.
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

    The documents are divided into many more groups than ``limit``, and the best score of each group is a document's
    score.
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
    """The documents that have all of ``words``. The rarest word decides the cost."""
    shared, *others = sorted((word.documents for word in words), key=len)
    for documents in others:
        if len(shared):
            nearest = documents.take(documents.searchsorted(shared), mode="clip")
            shared = shared[nearest == shared]
    return shared


# bm25 of pairs of consecutive words of a query that stand close together in a document.
#
# Only the documents that a search by words found are compared, about a hundred. Comparing all others too took 150 lines
# more and 1 ms of a prompt at 50,000 records, and moved nDCG@10 by 0.03 at most (docs/retrieval-measured.md).


@attrs.frozen(eq=False)
class Phrase:
    """A word of the query: its weight, its postings, its bm25 shares in them, and its count of tokens."""

    idf: float
    occurrences: PostingList
    shares: Scores
    length: int

    @classmethod
    def of(cls, occurrences: PostingList, length: int, norms: Scores, document_count: int) -> Phrase:
        """The phrase with ``occurrences``. ``norms``: by number, of all ``document_count`` documents."""
        idf = inverse_document_frequency(len(occurrences.documents), document_count)
        weights = shares(idf, occurrences.counts, norms.take(occurrences.documents))
        return cls(idf, occurrences, weights, length)


def neighbor_scores(phrases: Sequence[Phrase], documents: Counts, norms: Scores, *, distance: int) -> Scores:
    """(n,): for each of ``documents``, the bm25 of the pairs of ``phrases`` that stand close together in it.

    Sums are taken in the order of the pairs, as FTS5's ``NEAR`` does. A phrase without tokens forms no pair.

    Args:
      documents: (n,) ascending.
      norms: (n,): of ``documents``.
      distance: most words between the two of a pair.
    """
    scores = np.zeros(len(documents))
    keys = [phrase.occurrences.within(documents) for phrase in phrases]
    for (one, ones), (two, twos) in pairwise(zip(phrases, keys, strict=True)):
        if not len(ones) or not len(twos):
            continue
        after_one, after_two = one.length + distance, two.length + distance
        near_one = ones[_has_any(twos, ones - after_two, ones + after_one)]
        near_two = twos[_has_any(ones, twos - after_one, twos + after_two)]
        for idf, near in ((one.idf, near_one), (two.idf, near_two)):
            counts = np.bincount(documents.searchsorted(near >> DOCUMENT_BITS), minlength=len(documents))
            scores += shares(idf, counts.astype(np.int32), norms)
    return scores


def _has_any(sorted_keys: Keys, least: Keys, most: Keys) -> Flags:
    """For each pair of bounds, both included, whether one of ``sorted_keys`` (not empty) lies between them."""
    nearest = sorted_keys.take(sorted_keys.searchsorted(least), mode="clip")
    found: Flags = (nearest >= least) & (nearest <= most)
    return found


# The share of a query's words that a text contains literally, also inside longer words.
#
# An index of words does not find ``gitignore`` in ``EnsureEntireGitignore``, and counts a word as often as it occurs.


def word_shares(lowered: Sequence[str], terms: Sequence[str]) -> list[float]:
    """The share for each of ``lowered``, texts in lower case: 0 to 1. A term that fewer texts contain weighs more."""
    weights, holders = [], [0] * len(lowered)
    for place, term in enumerate(dict.fromkeys(term.lower() for term in terms)):
        holding = [number for number, text in enumerate(lowered) if term in text]
        weights.append(math.log(1 + (len(lowered) + 0.5) / (len(holding) + 0.5)))
        for number in holding:
            holders[number] |= 1 << place
    whole = math.fsum(weights)
    shares = {held: _sum_of(weights, held) / whole if whole else 0.0 for held in set(holders)}
    return [shares[held] for held in holders]


def _sum_of(weights: Sequence[float], held: int) -> float:
    """The sum of the ``weights`` whose places are bits of ``held``. Rounded once, so their order does not matter."""
    return math.fsum(weight for place, weight in enumerate(weights) if held >> place & 1)


# Ranks texts by which words of a query they contain, if there is no index of words.
#
# The score of a record is the sum of the inverse document frequencies of the words that it contains, also as parts of
# words. So the best score compares with the ideal one like bm25's, whose length and count factors are about 1.


def rank_by_containment(
    texts: Iterable[tuple[Hit, str]], words: Sequence[str], *, most: int, limit: int
) -> LexicalRanking:
    """The ``limit`` best of ``texts``, which are pairs of a hit without a score and its text.

    Of more than ``most`` words, only the first and the last are looked for: the question stands around the pasted text.
    """
    looked_for = tuple(words) if len(words) <= most else (*words[: (most + 1) // 2], *words[len(words) - most // 2 :])
    spellings = [word.lower() for word in looked_for]
    found: list[tuple[Hit, list[int]]] = []
    frequencies: Counter[int] = Counter()
    total = 0
    for hit, text in texts:
        total += 1
        lowered = text.lower()
        contained = [place for place, spelling in enumerate(spellings) if spelling in lowered]
        if contained:
            frequencies.update(contained)
            found.append((hit, contained))
    weights = [inverse_document_frequency(frequencies[place], total) for place in range(len(spellings))]
    scored = [attrs.evolve(hit, score=math.fsum(weights[place] for place in contained)) for hit, contained in found]
    ideal = ideal_score((frequencies[place] for place in range(len(spellings))), total)
    return LexicalRanking(tuple(best_first(scored)[:limit]), ideal, looked_for)
