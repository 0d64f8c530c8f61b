"""Reciprocal rank fusion: rankings become one by places, since their scores do not compare."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit
from kiro_learn.retrieval.ranking.evidence import Found
from kiro_learn.retrieval.ranking.order import best_first


def fuse(found: Found, *, k: int, limit: int) -> tuple[Hit, ...]:
    """The ``limit`` best records of all rankings; ``score``: fused, at most the count of rankings / (k + 1).

    Ties go to the newest, then to the smaller id, and are broken before anything is cut. Where one ranking alone has
    hits, this is its order.
    """
    by_id = {hit.record_id: hit for ranking in found.values() for hit in ranking.hits}
    places = [[hit.record_id for hit in ranking.hits] for ranking in found.values()]
    scores = reciprocal_rank_fusion(places, k=k)
    fused = [Hit(record_id, by_id[record_id].created_at, score) for record_id, score in scores.items()]
    return tuple(best_first(fused)[:limit])


def parts_of(found: Found, *, k: int) -> dict[RecordId, dict[str, float]]:
    """What the score of each record is the sum of: what each ranking gives for its place in it."""
    parts: dict[RecordId, dict[str, float]] = {}
    for name, ranking in found.items():
        for rank, hit in enumerate(ranking.hits, start=1):
            parts.setdefault(hit.record_id, {})[name.value] = 1.0 / (k + rank)
    return parts


def reciprocal_rank_fusion(rankings: Sequence[Sequence[RecordId]], *, k: int) -> dict[RecordId, float]:
    """Each record's Σ 1 / (k + rank) over the best-first ``rankings`` that have it, rank from 1; higher is better.

    Cormack, Clarke & Büttcher, SIGIR 2009. The order of ``rankings`` changes no bit of it, hence ``fsum``.
    """
    shares: dict[RecordId, list[float]] = {}
    for ranking in rankings:
        for rank, record_id in enumerate(ranking, start=1):
            shares.setdefault(record_id, []).append(1.0 / (k + rank))
    return {record_id: math.fsum(parts) for record_id, parts in shares.items()}
