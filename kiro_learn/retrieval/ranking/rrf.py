"""Reciprocal rank fusion: two rankings become one by places, since their scores do not compare."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.retrieval.ranking.vector_index import VectorRanking
from kiro_learn.retrieval.ranking.word_ranking import WordRanking


def fuse(words: WordRanking, vectors: VectorRanking, *, k: int, limit: int) -> tuple[Hit, ...]:
    """The ``limit`` best records of either ranking; ``score``: fused, at most 2 / (k + 1).

    Ties go to the newest, then to the smaller id, and are broken before anything is cut. Without vectors this is the
    order of ``words``.
    """
    by_id = {hit.record_id: hit for hit in (*words.hits, *vectors.hits)}
    places = [[hit.record_id for hit in hits] for hits in (words.hits, vectors.hits)]
    scores = reciprocal_rank_fusion(places, k=k)
    fused = [Hit(record_id, by_id[record_id].created_at, score) for record_id, score in scores.items()]
    return tuple(best_first(fused)[:limit])


def reciprocal_rank_fusion(rankings: Sequence[Sequence[RecordId]], *, k: int) -> dict[RecordId, float]:
    """Each record's Σ 1 / (k + rank) over the best-first ``rankings`` that have it, rank from 1; higher is better.

    Cormack, Clarke & Büttcher, SIGIR 2009. The order of ``rankings`` changes no bit of it, hence ``fsum``.
    """
    shares: dict[RecordId, list[float]] = {}
    for ranking in rankings:
        for rank, record_id in enumerate(ranking, start=1):
            shares.setdefault(record_id, []).append(1.0 / (k + rank))
    return {record_id: math.fsum(parts) for record_id, parts in shares.items()}
