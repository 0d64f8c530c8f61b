"""bm25 of pairs of consecutive words of a query that stand close together in a document.

Where both words of a pair stand in a document, they add to its score at most what they add to its bm25. The sum of that
over the pairs is found without looking at any place. So places are compared in the documents with the highest sums
alone, and then in those whose sum reaches what the best of these have: Turtle & Flood 1995, "Query evaluation:
strategies and optimizations" (MaxScore). Nothing of the answer changes.

All pairs are compared in the same few array operations: once so few documents are left, it is these that cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.retrieval.ranking.bm25 import (
    DOCUMENT_BITS,
    Counts,
    Flags,
    Keys,
    PostingList,
    Scores,
    ranges,
    reached_by,
    shares,
)

FIRST = 8
"""For each of the best that are wanted: so many documents are compared first. Seldom do others have to be."""

MARGIN = 1 + 1e-9
"""By as much may a sum be rounded above its bound, and by far more than that."""

SKEWED = 24
"""Times as many documents as the other word has: then each of the other's is searched for among them."""

Indexes = npt.NDArray[np.intp]


@attrs.frozen(eq=False)
class Phrase:
    """A word of the query: its weight, where it stands, what it adds there to bm25, and of how many tokens it is."""

    idf: float
    occurrences: PostingList
    shares: Scores
    length: int


def neighbor_scores(
    phrases: Sequence[Phrase], norms: Scores, *, distance: int, limit: int, first: int = FIRST
) -> Scores:
    """By number: the score of every document that is among the ``limit`` best; of others it may be too low."""
    meetings = _meetings(phrases, len(norms))
    if meetings is None:
        return np.zeros(len(norms))
    bounds = _by_number(meetings.documents, meetings.bounds, len(norms))
    least = reached_by(bounds, first * limit)
    scores = _compared(meetings.only(bounds >= least), phrases, norms, distance)
    reached = reached_by(scores, limit)
    if reached >= least * MARGIN:  # what was left out cannot come there
        return scores
    return _compared(meetings.only(bounds >= reached / MARGIN), phrases, norms, distance)


@attrs.frozen(eq=False)
class _Meetings:
    """The documents in which both words of a pair stand, pair by pair."""

    documents: Counts
    bounds: Scores
    """What the pair adds to each at most."""
    words: tuple[Indexes, Indexes]
    """(pairs,) each: which phrase is the first of a pair, and which the second."""
    at: tuple[Indexes, Indexes]
    """Where each document is among those of the pair's first word, and of its second."""
    pairs: Indexes
    """The pair of each, ascending."""

    def only(self, by_number: Flags) -> _Meetings:
        kept = by_number.take(self.documents).nonzero()[0]
        one, two = self.at
        return _Meetings(self.documents[kept], self.bounds[kept], self.words, (one[kept], two[kept]), self.pairs[kept])


def _meetings(phrases: Sequence[Phrase], count: int) -> _Meetings | None:
    """None if there is no pair at all."""
    find = _Finder(count)
    words, found = [], []
    for first, second in pairwise(range(len(phrases))):
        one, two = phrases[first], phrases[second]
        if one.length and two.length:
            words.append((first, second))
            found.append(find.shared(one.occurrences.documents, two.occurrences.documents))
        elif one.length or two.length:  # FTS5 leaves a word without tokens out of the pair
            alone = first if one.length else second
            words.append((alone, alone))
            everywhere = np.arange(len(phrases[alone].occurrences.documents))
            found.append((everywhere, everywhere))
    if not words:
        return None
    return _Meetings(
        documents=np.concatenate(
            [phrases[one].occurrences.documents[at] for (one, _), (at, _) in zip(words, found, strict=True)]
        ),
        bounds=np.concatenate(
            [
                phrases[one].shares[at_one] + phrases[two].shares[at_two]
                for (one, two), (at_one, at_two) in zip(words, found, strict=True)
            ]
        ),
        words=(np.array([one for one, _ in words]), np.array([two for _, two in words])),
        at=(np.concatenate([at for at, _ in found]), np.concatenate([at for _, at in found])),
        pairs=np.arange(len(words)).repeat([len(at) for at, _ in found]),
    )


class _Finder:
    """Finds documents that two words share; remembers the word that it looked in last."""

    def __init__(self, count: int) -> None:
        self._at = np.zeros(count, np.int32)
        """By number: where the document is among those of the word, if it is one of them."""
        self._known: Counts | None = None

    def shared(self, one: Counts, two: Counts) -> tuple[Indexes, Indexes]:
        """Where in ``one`` and where in ``two`` the documents are that are in both."""
        if len(one) > len(two):
            at_two, at_one = self._found(two, one)
            return at_one, at_two
        return self._found(one, two)

    def _found(self, few: Counts, many: Counts) -> tuple[Indexes, Indexes]:
        if not len(few):
            return np.empty(0, np.intp), np.empty(0, np.intp)
        at: npt.NDArray[np.integer]
        if len(many) > SKEWED * len(few):
            at = many.searchsorted(few)
        else:
            if self._known is not many:
                self._at[many.astype(np.intp)] = np.arange(len(many), dtype=np.int32)
                self._known = many
            at = self._at.take(few)
        is_shared = many.take(at, mode="clip") == few
        return is_shared.nonzero()[0], at[is_shared].astype(np.intp)


def _compared(meetings: _Meetings, phrases: Sequence[Phrase], norms: Scores, distance: int) -> Scores:
    """By number: what those words of the pairs add up to that stand at most ``distance`` words apart."""
    if not len(meetings.documents):
        return np.zeros(len(norms))
    first, second = meetings.words
    idfs = np.array([phrase.idf for phrase in phrases])
    reach = np.array([phrase.length for phrase in phrases]) + distance
    starts = np.concatenate([phrase.occurrences.starts for phrase in phrases])
    (one, ones), (two, twos) = (_keys(meetings, side, phrases, starts) for side in (0, 1))
    after_one, after_two = reach[first][meetings.pairs], reach[second][meetings.pairs]
    near_one = _has_any(two, one - after_two.repeat(ones), one + after_one.repeat(ones))
    near_two = _has_any(one, two - after_one.repeat(twos), two + after_two.repeat(twos))
    its_norms = norms.take(meetings.documents)
    idf_one = idfs[first][meetings.pairs]
    idf_two = np.where(first == second, 0.0, idfs[second])[meetings.pairs]  # what is alone is no pair
    added = np.empty((len(ones), 2))
    added[:, 0] = shares(idf_one, _sums(near_one, ones), its_norms)
    added[:, 1] = shares(idf_two, _sums(near_two, twos), its_norms)
    return _by_number(meetings.documents.repeat(2), added.ravel(), len(norms))


def _by_number(documents: Counts, added: Scores, count: int) -> Scores:
    """(count,): the sum of what is ``added`` to each document, taken in this order, as FTS5 does."""
    return np.bincount(documents, added, count).astype(np.float64, copy=False)


def _keys(meetings: _Meetings, side: int, phrases: Sequence[Phrase], starts: Counts) -> tuple[Keys, Counts]:
    """Where the first (0) or second (1) words of the pairs stand, and how often at each meeting.

    Each meeting is a document of its own. ``starts``: those of all phrases, one after the other.
    """
    words = meetings.words[side]
    offsets = np.array([0, *(len(phrase.occurrences.starts) for phrase in phrases)]).cumsum()
    at = meetings.at[side] + offsets[words][meetings.pairs]
    firsts, ends = starts[at], starts[at + 1]
    counts = ends - firsts
    which = ranges(firsts, ends)
    bounds = np.append(0, counts.cumsum())[meetings.pairs.searchsorted(np.arange(len(words) + 1))]
    places = [
        phrases[word].occurrences.places[which[first:end]]
        for word, (first, end) in zip(words.tolist(), pairwise(bounds.tolist()), strict=True)
    ]
    keys: Keys = (np.arange(len(counts)) << DOCUMENT_BITS).repeat(counts)
    return keys | np.concatenate(places), counts


def _sums(flags: Flags, counts: Counts) -> Counts:
    """Of each run of ``flags``, how many are set. ``counts``: how long each is, at least 1."""
    sums: Counts = np.add.reduceat(flags, counts.cumsum() - counts, dtype=np.int32)
    return sums


def _has_any(sorted_keys: Keys, least: Keys, most: Keys) -> Flags:
    """For each pair of bounds, both included, whether one of ``sorted_keys`` lies between."""
    nearest = sorted_keys.take(sorted_keys.searchsorted(least), mode="clip")
    found: Flags = (nearest >= least) & (nearest <= most)
    return found
