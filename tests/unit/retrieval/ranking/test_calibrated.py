from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, Ranking, RankingFeatures
from kiro_learn.model.vectors import DIMENSION, Vector
from kiro_learn.retrieval.ranking.calibrated import Found, depth_for, fuse_calibrated, worth_telling
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking

NOW = datetime(2026, 1, 5, tzinfo=UTC)
BACKGROUND = (np.random.default_rng(7).standard_normal((200, DIMENSION)) + 1).astype(np.float32)
QUERY: Vector = (np.random.default_rng(8).standard_normal(DIMENSION) + 1).astype(np.float32)


def hits(**scores: float) -> tuple[Hit, ...]:
    return tuple(Hit(RecordId(name), NOW, score) for name, score in scores.items())


@attrs.frozen
class Words:
    hits: tuple[Hit, ...] = ()
    ideal_score: float = 0.0
    terms: tuple[str, ...] = ()
    neighbors: tuple[Hit, ...] = ()


def near(*names: str) -> VectorRanking:
    """A ranking in which ``names`` have the query's own vector, and two hundred other records unrelated ones."""
    others = [RecordId(f"other {number}") for number in range(200)]
    index = VectorIndex.of(others, [NOW] * 200, BACKGROUND)
    for name in names:
        index = index.with_record(RecordId(name), NOW, QUERY[np.newaxis])
    return index.rank(QUERY, max(1, len(names)))


def both(words: Words, vectors: VectorRanking) -> Found:
    return {Ranking.WORDS: words, Ranking.MEANING: vectors}


def order(words: Words, vectors: VectorRanking, limit: int = 3, **ranking_features: RankingFeatures) -> list[str]:
    known = {RecordId(name): features for name, features in ranking_features.items()}
    return [str(hit.record_id) for hit in fuse_calibrated(both(words, vectors), known).best(limit)]


def test_what_the_vectors_find_beyond_chance_outweighs_the_words() -> None:
    assert order(Words(hits(w=9.0)), near("v"), limit=2) == ["v", "w"]


def test_what_the_vectors_find_by_chance_does_not() -> None:
    assert order(Words(hits(w=9.0)), near(), limit=1) == ["w"]


def test_words_that_stand_together_lift_a_record() -> None:
    words = Words(hits(a=2.0, b=1.8), neighbors=hits(b=1.0))
    assert order(words, near(), limit=2) == ["b", "a"]


def test_more_of_the_query_in_the_text_lifts_a_record() -> None:
    words = Words(hits(a=2.0, b=1.8), terms=("pool", "size"))
    assert order(words, near(), limit=2, a=RankingFeatures("pool"), b=RankingFeatures("pool size")) == ["b", "a"]


def test_a_session_lifts_what_follows() -> None:
    early, late = RankingFeatures("", "s", NOW), RankingFeatures("", "s", NOW.replace(hour=5))
    words = Words(hits(early=9.0, lone=4.0, late=3.0))
    assert order(words, near(), early=early, late=late) == ["early", "late", "lone"]


@pytest.mark.parametrize(
    ("terms", "best"),
    [(("zustand",), ["matter", "mention", "other"]), (("zustand", "state"), ["mention", "matter", "other"])],
)
def test_a_session_lifts_a_mention_above_no_title_that_is_the_one_word(terms: tuple[str, ...], best: list[str]) -> None:
    words = Words(hits(matter=9.0, mention=7.0, other=2.0), terms=terms)
    found = order(
        words,
        near(),
        matter=RankingFeatures("zustand keeps it\nas decided", "s", NOW),
        mention=RankingFeatures("npm fails\n(after: zustand)", "s", NOW.replace(hour=5)),
        other=RankingFeatures("npm\n(zustand)", "t", NOW),
    )
    assert found == best


def test_without_vectors_the_order_is_that_of_the_words() -> None:
    words = Words(hits(a=3.0, b=2.0, c=1.0), neighbors=hits(c=1.0))
    assert order(words, VectorRanking(), limit=2) == ["a", "b"]


def test_without_words_the_vectors_find_what_they_find() -> None:
    assert order(Words(), near("b", "a"), limit=2) == ["a", "b"]


def test_many_hits_are_weighed_for_few() -> None:
    assert (depth_for(1), depth_for(20), depth_for(50)) == (100, 100, 250)


def test_what_is_far_behind_the_best_is_not_told() -> None:
    assert worth_telling(hits(a=1.0, b=0.31, c=0.29)) == hits(a=1.0, b=0.31)
    assert worth_telling(()) == ()


def test_near_passages_lift_a_record_and_what_follows_it_in_its_session() -> None:
    names = [RecordId(name) for name in ("a", "b", "c")]
    later = NOW + timedelta(seconds=1)
    ranking_features = {names[1]: RankingFeatures("", "s", NOW), names[2]: RankingFeatures("", "s", later)}
    fusion = fuse_calibrated(both(Words(hits(a=9.0, b=8.9, c=1.0)), near("far")), ranking_features)
    before = {hit.record_id: hit.score for hit in fusion.of(names)}
    refined = fusion.refined({names[1]: (5.0, 7.0, -1.0), names[0]: (-2.0,)}).of(names)
    after = {hit.record_id: hit.score for hit in refined}
    assert refined[0].record_id == "b"
    assert after[names[0]] == before[names[0]], "what is less near than usual takes nothing away"
    assert after[names[2]] - before[names[2]] == pytest.approx(0.4 * (after[names[1]] - before[names[1]]))


def test_passages_of_records_that_were_not_found_change_nothing() -> None:
    fusion = fuse_calibrated(both(Words(hits(a=9.0, b=1.0)), near("far")), {})
    assert fusion.refined({RecordId("z"): (9.0,), RecordId("a"): ()}).best(9) == fusion.best(9)
