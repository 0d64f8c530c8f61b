"""How likely the hits are to help, and how many bytes of a block that is worth, from none to all.

    confidence = mean of the best cosines between query and passages

The best are ten; fewer where there are few passages, since the third best of five is about something else. They grow
without a step: 20 passages have two, 10 have one and half of the weight of a second. The words the query shares with
what was found say nothing more, see docs/retrieval.md.

A cosine knows the topic, not the answer, and what is high differs from project to project. So a doubtful question is
not answered with all or nothing, but with few bytes. docs/retrieval.md has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from kiro_learn.retrieval.ranking.word_ranking import WordRanking

BEST_PASSAGES = 10
PASSAGES_FOR_ONE_MORE = 20

FLOOR = 0.25
"""Lowest confidence at which anything is told."""

CERTAIN = 0.36
"""From here on, the whole block is worth its bytes."""

WORDS_FLOOR, WORDS_CERTAIN = 0.25, 0.5
"""The same bounds for the word share, used if there are no vectors."""

LEAST_BYTES = 800
"""Told at the floor: about the two best memories."""


@attrs.frozen
class Sureness:
    """How sure it is that what was found helps, and the bounds that this is compared with."""

    confidence: float
    floor: float = FLOOR
    certain: float = CERTAIN

    def bytes_worth(self, most_bytes: int) -> int:
        """How much of a block of ``most_bytes`` to tell."""
        return bytes_worth(self.confidence, most_bytes, floor=self.floor, certain=self.certain)


def confidence(cosines: Sequence[float]) -> float:
    """``cosines``: of the query with the passages that were found, in any order, at least one."""
    best = sorted(cosines, reverse=True)[:BEST_PASSAGES]
    depth = min(BEST_PASSAGES, 1 + (len(cosines) - 1) / PASSAGES_FOR_ONE_MORE)
    weights = [min(1.0, max(0.0, depth - place)) for place in range(len(best))]
    return math.fsum(weight * cosine for weight, cosine in zip(weights, best, strict=True)) / math.fsum(weights)


def word_share(words: WordRanking) -> float:
    """How much of the query's weight in words its best record holds, 0 to 1."""
    if not words.hits or words.ideal_score <= 0:
        return 0.0
    return min(1.0, words.hits[0].score / words.ideal_score)


def bytes_worth(confidence: float, most_bytes: int, *, floor: float = FLOOR, certain: float = CERTAIN) -> int:
    """How much of a block of ``most_bytes`` to tell; 0 below ``floor``, all of it from ``certain`` on."""
    if confidence < floor:
        return 0
    share = min(1.0, (confidence - floor) / (certain - floor))
    least = min(LEAST_BYTES, most_bytes)
    return least + int(share * (most_bytes - least))
