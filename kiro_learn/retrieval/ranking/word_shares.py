"""How much of a query's weight in words a text holds literally, inside longer words too.

An index of words misses ``gitignore`` in ``EnsureEntireGitignore``, and counts a word as often as it comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def word_shares(texts: Sequence[str], terms: Sequence[str]) -> list[float]:
    """Of each text, 0 to 1. A term weighs the more, the fewer of these ``texts`` hold it."""
    wanted = dict.fromkeys(term.lower() for term in terms)
    held = [{term for term in wanted if term in text} for text in map(str.lower, texts)]
    counts = {term: sum(term in each for each in held) for term in wanted}
    weights = {term: math.log(1 + (len(texts) + 0.5) / (count + 0.5)) for term, count in counts.items()}
    whole = math.fsum(weights.values())
    return [math.fsum(weights[term] for term in each) / whole if whole else 0.0 for each in held]
