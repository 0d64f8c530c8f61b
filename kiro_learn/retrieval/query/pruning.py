"""Which words a record must hold to have a chance at the top of a ranking.

bm25 is computed for every record that holds any term, and that is what a search costs. But a term adds less than
(k1 + 1) * idf to a score, however often a record holds it. So once enough records are known to reach a score, those
that hold only terms whose bounds add up to less need not be scored: Turtle & Flood 1995, "Query evaluation: strategies
and optimizations" (MaxScore), with whole terms in place of single postings. Nothing of the answer changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kiro_learn.retrieval.query.terms import inverse_document_frequency

BOUND = 2.2 * (1 + 1e-9)
"""k1 + 1 with FTS5's k1 = 1.2, and a margin for the rounding of sums."""


def rarest(frequencies: Mapping[str, int], *, most_records: int) -> tuple[str, ...]:
    """The rarest of the terms that are held at all: as many as ``most_records`` hold between them, at least one."""
    chosen: list[str] = []
    record_count = 0
    for term in _rarest_first(frequencies):
        record_count += frequencies[term]
        if chosen and record_count > most_records:
            break
        chosen.append(term)
    return tuple(chosen)


def needed(frequencies: Mapping[str, int], total: int, *, threshold: float) -> tuple[str, ...]:
    """The terms of which a record of ``total`` must hold one to score ``threshold`` or more; rarest first."""
    terms = _rarest_first(frequencies)
    without = 0.0
    while terms:
        without += BOUND * inverse_document_frequency(frequencies[terms[-1]], total)
        if without >= threshold:
            break
        terms.pop()
    return tuple(terms)


def _rarest_first(frequencies: Mapping[str, int]) -> list[str]:
    return sorted((term for term, count in frequencies.items() if count), key=frequencies.__getitem__)
