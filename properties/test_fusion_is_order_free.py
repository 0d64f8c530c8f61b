"""Fusion depends on the places in the rankings, not on the order of the rankings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, Ranking
from kiro_learn.retrieval.ranking.calibrated import Found, fuse, reciprocal_rank_fusion
from kiro_learn.retrieval.ranking.vector_index import VectorRanking

NAMES = st.sampled_from([RecordId(name) for name in "abcdefghij"])
RANKING = st.lists(NAMES, unique=True)
AGES = st.lists(st.integers(0, 3), min_size=10, max_size=10)
START = datetime(2026, 1, 5, tzinfo=UTC)


@attrs.frozen
class Words:
    hits: tuple[Hit, ...]
    ideal_score: float = 0.0
    terms: tuple[str, ...] = ()
    neighbors: tuple[Hit, ...] = ()


def found(words: Words, vectors: VectorRanking) -> Found:
    return {Ranking.WORDS: words, Ranking.MEANING: vectors}


@given(rankings=st.lists(RANKING, max_size=6), data=st.data(), k=st.integers(1, 100))
def test_the_order_of_the_rankings_changes_no_bit(rankings: list[list[RecordId]], data: st.DataObject, k: int) -> None:
    shuffled = data.draw(st.permutations(rankings))
    assert reciprocal_rank_fusion(shuffled, k=k) == reciprocal_rank_fusion(rankings, k=k)


@given(words=RANKING, vectors=RANKING, ages=AGES, limit=st.integers(0, 12))
def test_words_and_vectors_weigh_the_same(
    words: list[RecordId], vectors: list[RecordId], ages: list[int], limit: int
) -> None:
    def hits(names: list[RecordId]) -> tuple[Hit, ...]:
        return tuple(Hit(name, START + timedelta(days=ages[ord(name) - ord("a")]), 0.0) for name in names)

    fused = fuse(found(Words(hits(words)), VectorRanking(hits(vectors))), k=60, limit=limit)
    assert fused == fuse(found(Words(hits(vectors)), VectorRanking(hits(words))), k=60, limit=limit)
    everything = fuse(found(Words(hits(words)), VectorRanking(hits(vectors))), k=60, limit=100)
    assert {hit.record_id for hit in everything} == {*words, *vectors}
    assert fused == everything[:limit]


@given(words=RANKING, ages=AGES, limit=st.integers(0, 12))
def test_words_alone_keep_their_order(words: list[RecordId], ages: list[int], limit: int) -> None:
    hits = tuple(Hit(name, START + timedelta(days=age), 0.0) for name, age in zip(words, ages, strict=False))
    fused = fuse(found(Words(hits), VectorRanking()), k=60, limit=limit)
    assert [hit.record_id for hit in fused] == words[:limit]
