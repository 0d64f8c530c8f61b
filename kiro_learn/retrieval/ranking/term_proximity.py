"""bm25 of pairs of consecutive words of a query that stand close together in a document.

Only the documents that a search by words found are compared, about a hundred: comparing all others too took 150 lines
more and 1 ms of a prompt at 50,000 records, and moved nDCG@10 by 0.03 at most (docs/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np

from kiro_learn.retrieval.ranking.bm25 import DOCUMENT_BITS, Counts, Flags, Keys, PostingList, Scores, shares


@attrs.frozen(eq=False)
class Phrase:
    """A word of the query: its weight, its postings, its bm25 shares there, and its count of tokens."""

    idf: float
    occurrences: PostingList
    shares: Scores
    length: int


def neighbor_scores(phrases: Sequence[Phrase], documents: Counts, norms: Scores, *, distance: int) -> Scores:
    """(n,): of each of ``documents``, the bm25 of those pairs of ``phrases`` that stand close together in it.

    Sums are taken in the order of the pairs, as FTS5's ``NEAR`` does. A phrase without tokens forms no pair.

    Args:
      documents: (n,) ascending.
      norms: (n,): theirs.
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
    """For each pair of bounds, both included, whether one of ``sorted_keys``, of which there are some, lies between."""
    nearest = sorted_keys.take(sorted_keys.searchsorted(least), mode="clip")
    found: Flags = (nearest >= least) & (nearest <= most)
    return found
