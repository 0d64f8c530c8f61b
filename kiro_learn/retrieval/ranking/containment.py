"""Ranks texts by which words of a query they contain, for where there is no index of words to ask.

A record scores the sum of the inverse document frequencies of the words that it contains, as parts of words too. So the
best score compares with the ideal one as bm25's does, whose length and count factors are about 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from kiro_learn.model.retrieval import Hit
from kiro_learn.retrieval.query.terms import ideal_score, inverse_document_frequency
from kiro_learn.retrieval.ranking.order import best_first


@attrs.frozen
class Contained:
    """The texts that contain any of the words, ranked."""

    hits: tuple[Hit, ...]
    """Best first; ties by newest, then by id."""
    ideal_score: float
    words: tuple[str, ...]
    """The words that were looked for."""


def rank_by_containment(texts: Iterable[tuple[Hit, str]], words: Sequence[str], *, most: int, limit: int) -> Contained:
    """The ``limit`` best of ``texts``, each with a hit that has no score yet.

    Of more than ``most`` words, the first and the last are looked for: around what was pasted stands what is asked.
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
    return Contained(tuple(best_first(scored)[:limit]), ideal, looked_for)
