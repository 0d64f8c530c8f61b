"""The optimised fusion gives the same scores as its formula, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import attrs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, Ranking, RankingFeatures
from kiro_learn.model.vectors import DIMENSION, Vector
from kiro_learn.retrieval.ranking.calibrated import MEANING_WEIGHT, NEIGHBORS_WEIGHT, SHARE_WEIGHT, fuse_calibrated
from kiro_learn.retrieval.ranking.confidence import CARRIED
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking

NAMES = [RecordId(name) for name in "abcdefghijklmnop"]
START = datetime(2026, 1, 5, tzinfo=UTC)
TIMES = st.integers(0, 3).map(lambda days: START + timedelta(days=days))
LEARNED = st.fixed_dictionaries(dict.fromkeys(NAMES, TIMES))
TERMS = ("Pool", "pool", "size", "of", "lock")
TEXTS = st.lists(st.sampled_from(["pool", "pools", "size", "off", "colour", "deadlocks"]), max_size=4).map(" ".join)
PLACES = st.one_of(st.just((None, None)), st.tuples(st.sampled_from(["s", "t", ""]), TIMES))
RANKING_FEATURES = st.dictionaries(
    st.sampled_from(NAMES), st.builds(lambda text, place: RankingFeatures(text, *place), TEXTS, PLACES)
)
SCORES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.0, 0.5, 1.0, 1.0000000000000002, 7.3]))
DIRECTIONS = (np.random.default_rng(5).standard_normal((5, DIMENSION)) + 1).astype(np.float32)


@attrs.frozen
class Words:
    hits: tuple[Hit, ...]
    neighbors: tuple[Hit, ...]
    terms: tuple[str, ...]
    ideal_score: float = 0.0


@given(
    scores=SCORES,
    near=SCORES,
    terms=st.lists(st.sampled_from(TERMS)),
    learned=LEARNED,
    vectors=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 4), min_size=1),
    depth=st.integers(1, 16),
    ranking_features=RANKING_FEATURES,
    limit=st.integers(0, 18),
)
def test_fusion_says_what_its_formula_says(
    *,
    scores: dict[RecordId, float],
    near: dict[RecordId, float],
    terms: list[str],
    learned: dict[RecordId, datetime],
    vectors: dict[RecordId, int],
    depth: int,
    ranking_features: dict[RecordId, RankingFeatures],
    limit: int,
) -> None:
    words = Words(ranked(scores, learned), ranked(near, learned), tuple(terms))
    index = VectorIndex.of(list(vectors), [learned[name] for name in vectors], DIRECTIONS[list(vectors.values())])
    query: Vector = DIRECTIONS[0]
    ranking = index.rank(query, depth)
    assert (
        fuse_calibrated({Ranking.WORDS: words, Ranking.MEANING: ranking}, ranking_features).best(limit)
        == by_formula(words, ranking, ranking_features)[:limit]
    )


def ranked(scores: dict[RecordId, float], learned: dict[RecordId, datetime]) -> tuple[Hit, ...]:
    return tuple(Hit(name, learned[name], scores[name]) for name in sorted(scores, key=lambda name: -scores[name]))


def by_formula(
    words: Words, vectors: VectorRanking, ranking_features: dict[RecordId, RankingFeatures]
) -> tuple[Hit, ...]:
    """The formula, step by step: the sum for each record, then the shares within sessions, then the order."""
    standings = vectors.standings
    assert standings is not None
    hits = {hit.record_id: hit for hit in (*words.hits, *vectors.hits)}
    texts = [ranking_features[name].text for name in hits if name in ranking_features]
    weights = {
        term: math.log(1 + (len(texts) + 0.5) / (sum(term in text for text in texts) + 0.5))
        for term in {term.lower() for term in words.terms}
    }
    deviations = standings.deviations(hits)

    def weighed(name: RecordId) -> float:
        held = [
            weight
            for term, weight in weights.items()
            if name in ranking_features and term in ranking_features[name].text
        ]
        meaning = MEANING_WEIGHT * (1 - standings.mean_pairwise_cosine) ** 2 * max(0.0, deviations.get(name, 0.0)) ** 2
        share = math.fsum(held) / math.fsum(weights.values()) if weights else 0.0
        return sum(
            [
                meaning,
                relative(name, words.hits, 1.0),
                relative(name, words.neighbors, NEIGHBORS_WEIGHT),
                SHARE_WEIGHT * share,
            ]
        )

    def place(name: RecordId) -> tuple[datetime, datetime, RecordId]:
        return (ranking_features[name].said_at or hits[name].created_at, hits[name].created_at, name)

    scores = {name: weighed(name) for name in hits}
    for session in {features.session_id for features in ranking_features.values()} - {None}:
        handed_on = 0.0
        for name in sorted(
            (name for name in hits if name in ranking_features and ranking_features[name].session_id == session),
            key=place,
        ):
            scores[name] = handed_on = scores[name] + CARRIED * handed_on
    if len(weights) == 1:
        scores = below_titles(scores, weighed, next(iter(weights)), ranking_features)
    fused = [Hit(name, hits[name].created_at, score) for name, score in scores.items()]
    return tuple(sorted(fused, key=lambda hit: (-hit.score, START - hit.created_at, hit.record_id)))


def below_titles(
    scores: dict[RecordId, float],
    weighed: Callable[[RecordId], float],
    term: str,
    ranking_features: dict[RecordId, RankingFeatures],
) -> dict[RecordId, float]:
    """The rule for a single word: a session lifts no record as high as a record with the word in its title."""
    titled = [
        name for name in scores if name in ranking_features and term in ranking_features[name].text.split("\n")[0]
    ]
    most = math.nextafter(min((scores[name] for name in titled), default=math.inf), 0.0)
    return {name: score if name in titled else max(weighed(name), min(score, most)) for name, score in scores.items()}


def relative(name: RecordId, ranking: tuple[Hit, ...], weight: float) -> float:
    found = {hit.record_id: hit.score for hit in ranking}
    return weight * found.get(name, 0.0) / ranking[0].score if ranking and ranking[0].score > 0 else 0.0
