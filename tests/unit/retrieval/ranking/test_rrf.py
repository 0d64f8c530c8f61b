from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, Ranking
from kiro_learn.retrieval.ranking.calibrated import Found, fuse, reciprocal_rank_fusion
from kiro_learn.retrieval.ranking.vector_index import VectorRanking

LONG_AGO = datetime(2026, 1, 5, tzinfo=UTC)


@attrs.frozen
class Words:
    hits: tuple[Hit, ...] = ()
    ideal_score: float = 0.0
    terms: tuple[str, ...] = ()
    neighbors: tuple[Hit, ...] = ()


def found(words: Words, vectors: VectorRanking) -> Found:
    return {Ranking.WORDS: words, Ranking.MEANING: vectors}


def hits(names: str, *, day: int = 0) -> tuple[Hit, ...]:
    """One hit for each letter, best first, all on the same day."""
    return tuple(Hit(RecordId(name), LONG_AGO + timedelta(days=day), float(-rank)) for rank, name in enumerate(names))


def order(fused: tuple[Hit, ...]) -> str:
    return "".join(hit.record_id for hit in fused)


def test_the_score_is_the_sum_of_reciprocal_ranks_from_one() -> None:
    scores = reciprocal_rank_fusion([[RecordId("a"), RecordId("b")], [RecordId("b")]], k=60)
    assert scores == {"a": 1 / 61, "b": math.fsum([1 / 62, 1 / 61])}


def test_a_record_in_both_rankings_comes_before_the_best_of_one() -> None:
    assert order(fuse(found(Words(hits("abc")), VectorRanking(hits("dec"))), k=60, limit=10)) == "cadbe"


def test_equals_come_newest_first_then_by_id() -> None:
    old_and_new = (*hits("b"), *hits("z", day=1))
    fused = fuse(found(Words(old_and_new), VectorRanking(tuple(reversed(old_and_new)))), k=60, limit=2)
    assert order(fused) == "zb"
    same_age = fuse(found(Words(hits("zb")), VectorRanking(hits("bz"))), k=60, limit=2)
    assert order(same_age) == "bz"


def test_without_vectors_the_order_is_that_of_the_words() -> None:
    assert order(fuse(found(Words(hits("cab")), VectorRanking()), k=60, limit=2)) == "ca"


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse(found(Words(), VectorRanking()), k=60, limit=10) == ()
