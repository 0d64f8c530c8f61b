"""How much of a query's weight in words a text holds literally, inside longer words too.

An index of words misses ``gitignore`` in ``EnsureEntireGitignore``, and counts a word as often as it comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def word_shares(texts: Sequence[str], terms: Sequence[str]) -> list[float]:
    """Of each text, 0 to 1. A term weighs the more, the fewer of these ``texts`` hold it."""
    lowered = [text.lower() for text in texts]
    weights, holders = [], []
    for term in dict.fromkeys(term.lower() for term in terms):
        holding = [number for number, text in enumerate(lowered) if term in text]
        weights.append(math.log(1 + (len(texts) + 0.5) / (len(holding) + 0.5)))
        holders.append(holding)
    held: list[list[float]] = [[] for _ in texts]
    for weight, holding in zip(weights, holders, strict=True):
        for number in holding:
            held[number].append(weight)
    whole = math.fsum(weights)
    return [math.fsum(each) / whole if whole else 0.0 for each in held]
