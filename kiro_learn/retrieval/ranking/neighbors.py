"""bm25 of pairs of consecutive words of a query that stand close together in a document.

Two common words are the dearest to compare and add the least. So the pairs are taken by what they may add at most; once
what is left cannot lift another document among the best, it is compared only in those that are or may come there:
Turtle & Flood 1995, "Query evaluation: strategies and optimizations" (MaxScore). Nothing of the answer changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np

from kiro_learn.retrieval.ranking.bm25 import NOWHERE, Flags, Occurrences, Scores, add, bm25, close_together

BOUND = 2.2 * (1 + 1e-9)
"""A word adds less than this times its inverse document frequency: k1 + 1, and a margin for the rounding of sums."""

WORTH_PRUNING = 2_000
"""Documents of the rarer word from which on a pair costs more than to find out whether it is needed."""

Pair = tuple[tuple[float, Occurrences], tuple[float, Occurrences]]


@attrs.frozen(eq=False)
class Phrase:
    """A word of the query: its weight, where it stands, and of how many tokens it is."""

    idf: float
    occurrences: Occurrences
    length: int


def neighbor_scores(
    phrases: Sequence[Phrase], norms: Scores, *, distance: int, limit: int, worth_pruning: int = WORTH_PRUNING
) -> Scores:
    """By number: the score of every document that is among the ``limit`` best; of others it may be too low."""
    pairs = list(pairwise(phrases))
    bounds = [BOUND * (one.idf + two.idf) for one, two in pairs]
    found: dict[int, Pair] = {}
    reached = np.zeros(len(norms))
    waiting = sorted(range(len(pairs)), key=bounds.__getitem__, reverse=True)
    wanted: Flags | None = None
    while waiting:
        number = waiting[0]
        if wanted is None and _cost(*pairs[number]) >= worth_pruning:
            wanted = _still_possible(reached, sum(bounds[each] for each in waiting), limit)
        found[number] = _near(*pairs[number], distance, wanted)
        if wanted is None:
            for idf, occurrences in found[number]:
                add(reached, idf, occurrences, norms)
        waiting.pop(0)
    return bm25((part for number in range(len(pairs)) for part in found[number]), norms)


def _cost(one: Phrase, two: Phrase) -> int:
    return min(len(one.occurrences.documents), len(two.occurrences.documents))


def _still_possible(reached: Scores, rest: float, limit: int) -> Flags | None:
    """By number: which documents may be among the best, if what is left adds ``rest`` at most; None: any."""
    scores = reached[reached > 0]
    if len(scores) < limit:
        return None
    last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return None if rest >= last else reached + rest >= last


def _near(one: Phrase, two: Phrase, distance: int, wanted: Flags | None) -> Pair:
    if not (one.length and two.length):  # FTS5 leaves a word without tokens out of the pair
        alone = (each.occurrences if each.length else NOWHERE for each in (one, two))
        return ((one.idf, next(alone)), (two.idf, next(alone)))
    lengths = (one.length, two.length)
    first, second = close_together(one.occurrences, two.occurrences, lengths=lengths, distance=distance, wanted=wanted)
    return ((one.idf, first), (two.idf, second))
