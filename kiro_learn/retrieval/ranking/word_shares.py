"""How much of a query's weight in words a text holds literally, inside longer words too.

An index of words misses ``gitignore`` in ``EnsureEntireGitignore``, and counts a word as often as it comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def word_shares(lowered: Sequence[str], terms: Sequence[str]) -> list[float]:
    """Of each text, 0 to 1; ``lowered``: the texts in lower case. A term weighs the more, the fewer of them hold it."""
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
    """Of the ``weights`` whose places are bits of ``held``. Rounded once, so their order does not matter."""
    return math.fsum(weight for place, weight in enumerate(weights) if held >> place & 1)
