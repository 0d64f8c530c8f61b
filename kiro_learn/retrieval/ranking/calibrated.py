"""Fuses the results of several rankings into one order: by places, by calibrated scores, or by weighted signals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Protocol, TypeAlias, cast

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, LexicalRanking, Ranking, RankingFeatures, best_first
from kiro_learn.model.settings import ScoringSettings, Weights
from kiro_learn.retrieval.ranking.bm25 import word_shares
from kiro_learn.retrieval.ranking.confidence import BEST, OlderByNewer, session_boost, successors
from kiro_learn.retrieval.ranking.vector_index import VectorRanking

# The results of one search by ranking. Fusion and confidence weigh them.


class Evidence(Protocol):
    """The result of one ranking, as a frozen attrs class. Each kind of ranking adds the meaning of its scores."""

    @property
    def hits(self) -> Sequence[Hit]:
        """The hits, best first. Scores compare within one ranking only."""
        ...


Found: TypeAlias = Mapping[Ranking, Evidence]
"""The result of each ranking, in the order in which the retrievers are listed."""


def words_of(found: Found) -> LexicalRanking:
    """The result of the word retriever."""
    return cast("LexicalRanking", found[Ranking.WORDS])


def vectors_of(found: Found) -> VectorRanking:
    """The result of the vector retriever."""
    return cast("VectorRanking", found[Ranking.MEANING])


# Reciprocal rank fusion: rankings are fused by places, since their scores do not compare.


def fuse(found: Found, *, k: int, limit: int) -> tuple[Hit, ...]:
    """The ``limit`` best records of all rankings; ``score``: fused, at most the count of rankings / (k + 1).

    Ties go to the newest, then to the smaller id, and are broken before the list is cut. If only one ranking has hits,
    this is its order.
    """
    by_id = {hit.record_id: hit for ranking in found.values() for hit in ranking.hits}
    places = [[hit.record_id for hit in ranking.hits] for ranking in found.values()]
    scores = reciprocal_rank_fusion(places, k=k)
    fused = [Hit(record_id, by_id[record_id].created_at, score) for record_id, score in scores.items()]
    return tuple(best_first(fused)[:limit])


def parts_of(found: Found, *, k: int) -> dict[RecordId, dict[str, float]]:
    """The parts of each record's score: what each ranking gives for the record's place in it."""
    parts: dict[RecordId, dict[str, float]] = {}
    for name, ranking in found.items():
        for rank, hit in enumerate(ranking.hits, start=1):
            parts.setdefault(hit.record_id, {})[name.value] = 1.0 / (k + rank)
    return parts


def reciprocal_rank_fusion(rankings: Sequence[Sequence[RecordId]], *, k: int) -> dict[RecordId, float]:
    """Each record's Σ 1 / (k + rank) over the best-first ``rankings`` that have it, rank from 1; higher is better.

    Cormack, Clarke & Büttcher, SIGIR 2009. ``fsum`` makes the result independent of the order of ``rankings``.
    """
    shares: dict[RecordId, list[float]] = {}
    for ranking in rankings:
        for rank, record_id in enumerate(ranking, start=1):
            shares.setdefault(record_id, []).append(1.0 / (k + rank))
    return {record_id: math.fsum(parts) for record_id, parts in shares.items()}


# Fusion by calibrated scores: the word scores, and how unusual the nearness in meaning is, on one scale.
#
# Bruch, Gai & Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023, found that a sum of scores
# beats a sum of ranks once both are on a scale. Here a record's score is
#
# bm25/best + 0.25 (1 - mean pairwise cosine)² max(0, deviations)² + 0.3 neighbors/best + 0.5 word share
#
# plus the score that its session carries over to it. The squared deviation is about the logarithm of how unlikely such
# a near vector is by chance. So it grows by itself where the vectors say something. For the best records, the nearest
# passages then make the deviation more exact. docs/retrieval-measured.md has the measurements.

MEANING_WEIGHT = 0.25
NEIGHBORS_WEIGHT = 0.3
SHARE_WEIGHT = 0.5

WORTH_TELLING = 0.3
"""The share of the best hit's score below which another hit is more likely to distract than to help."""

LEAST_DEPTH = 100
DEPTH_MULTIPLIER = 5
"""How many hits each ranking gives: a multiple of the limit, and at least this many. Session boosts lift hits from far
down.
"""

REFINED_COUNT = 30
"""How many best records have their passages compared: 18 lose half of what 100 gain, 60 gain nothing more."""

PASSAGES_SHARE = 0.5
"""The weight of a record's nearest passages in its vector score. The rest is the weight of its own vector."""

NEAREST_PASSAGES = 2

SUCCESSOR_SHARE = 0.45
"""A record that overturns another gets at least this share of its score: enough to be told if there is room."""


@attrs.frozen(eq=False)
class Fusion:
    """The records of all rankings, each with its score."""

    _found: Mapping[RecordId, datetime]
    """When each record was learned."""
    _scores: Mapping[RecordId, float]
    """Scores before the session boost."""
    _deviations: Mapping[RecordId, float] = attrs.Factory(dict)
    _meaning_weight: float = 0.0
    _ranking_features: Mapping[RecordId, RankingFeatures] = attrs.Factory(dict)
    _word_parts: Mapping[str, Mapping[RecordId, float]] = attrs.Factory(dict)
    """The word scores of the records, by the names that ``parts`` gives."""
    older_by_newer: OlderByNewer = attrs.Factory(dict)
    """For each record, the older ones of the best records that it overturns."""
    _only_term: str | None = None
    """The only word of the query, in lower case; None if it has several."""

    def best(self, limit: int) -> tuple[Hit, ...]:
        """The ``limit`` best hits. ``score``: higher is better, comparable within one query only."""
        return _best(self._boosted(), self._found, limit)

    def with_successors(self, terms: Sequence[str]) -> Fusion:
        """A fusion in which a record that overturns one of the best gets a share of its score.

        ``terms``: the words of the query.
        """
        if not self._ranking_features:
            return self
        texts = {record_id: features.text for record_id, features in self._ranking_features.items()}
        moments = {
            record_id: features.said_at or self._found[record_id]
            for record_id, features in self._ranking_features.items()
            if record_id in self._found
        }
        best = [hit.record_id for hit in self.best(BEST)]
        known = {record_id: texts[record_id] for record_id in moments}
        return attrs.evolve(self, older_by_newer=successors(best, known, moments, terms))

    def _boosted(self) -> dict[RecordId, float]:
        scores = self._boosted_below_titles(session_boost(self._scores, self._found, self._ranking_features))
        for new, olds in self.older_by_newer.items():
            scores[new] = max((scores[new], *(SUCCESSOR_SHARE * scores[old] for old in olds)))
        return scores

    def _boosted_below_titles(self, boosted: dict[RecordId, float]) -> dict[RecordId, float]:
        """``boosted``; for a query of one word, no session lifts a record above those with the word in their title."""
        if self._only_term is None:
            return boosted
        features = self._ranking_features.items()
        titled = {each for each, of in features if each in boosted and self._only_term in of.text.partition("\n")[0]}
        if not titled:
            return boosted
        most = math.nextafter(min(boosted[each] for each in titled), 0.0)
        return {
            each: score if each in titled else max(self._scores[each], min(score, most))
            for each, score in boosted.items()
        }

    def of(self, record_ids: Iterable[RecordId]) -> tuple[Hit, ...]:
        """The hits of ``record_ids``, best first."""
        scores = self._boosted()
        return tuple(best_first(Hit(record_id, self._found[record_id], scores[record_id]) for record_id in record_ids))

    def parts(self, record_ids: Iterable[RecordId]) -> dict[RecordId, dict[str, float]]:
        """The parts of each record's score; ``session`` is the part that other records hand on to it."""
        boosted = self._boosted()
        return {record_id: self._parts_of(record_id, boosted[record_id]) for record_id in record_ids}

    def _parts_of(self, record_id: RecordId, boosted: float) -> dict[str, float]:
        score = self._scores[record_id]
        if not self._word_parts:
            return {"words": score}
        parts = {name: part.get(record_id, 0.0) for name, part in self._word_parts.items()}
        meaning = self._vector_score(self._deviations.get(record_id, 0.0))
        return {"meaning": meaning, **parts, "session": boosted - score}

    def refined(self, passages: Mapping[RecordId, Sequence[float]]) -> Fusion:
        """A fusion refined by ``passages``: by record, the standard score of each passage."""
        scores, deviations = dict(self._scores), dict(self._deviations)
        for record_id, of_passages in passages.items():
            if record_id in scores and of_passages:
                nearest = sorted(of_passages, reverse=True)[:NEAREST_PASSAGES]
                before = deviations.get(record_id, 0.0)
                after = (1 - PASSAGES_SHARE) * before + PASSAGES_SHARE * sum(nearest) / len(nearest)
                scores[record_id] += self._vector_score(after) - self._vector_score(before)
                deviations[record_id] = after
        return attrs.evolve(self, scores=scores, deviations=deviations)

    def _vector_score(self, deviation: float) -> float:
        return self._meaning_weight * max(0.0, deviation) ** 2


def fuse_calibrated(found: Found, ranking_features: Mapping[RecordId, RankingFeatures]) -> Fusion:
    """The records of all rankings with their scores; without vectors, the hits of ``words`` with theirs.

    ``ranking_features`` are those of all hits. A record without them is weighed without its text and session.
    """
    words, vectors = words_of(found), vectors_of(found)
    if vectors.standings is None:
        return Fusion(
            {hit.record_id: hit.created_at for hit in words.hits}, {hit.record_id: hit.score for hit in words.hits}
        )
    created_at = {hit.record_id: hit.created_at for ranking in found.values() for hit in ranking.hits}
    known = [record_id for record_id in created_at if record_id in ranking_features]
    shares = word_shares([ranking_features[record_id].text for record_id in known], words.terms)
    meaning_weight = MEANING_WEIGHT * (1 - vectors.standings.mean_pairwise_cosine) ** 2
    deviations = vectors.standings.deviations(created_at)
    meaning = {record_id: meaning_weight * max(0.0, deviation) ** 2 for record_id, deviation in deviations.items()}
    word_parts = {
        "words": _relative(words.hits, 1.0),
        "pairs": _relative(words.neighbors, NEIGHBORS_WEIGHT),
        "literal": {record_id: SHARE_WEIGHT * share for record_id, share in zip(known, shares, strict=True)},
    }
    columns = (map(part.get, created_at, repeat(0.0)) for part in (meaning, *word_parts.values()))
    scores = dict(zip(created_at, map(sum, zip(*columns, strict=True)), strict=True))
    terms = {term.lower() for term in words.terms}
    only_term = terms.pop() if len(terms) == 1 else None
    return Fusion(created_at, scores, deviations, meaning_weight, ranking_features, word_parts, only_term=only_term)


def worth_telling(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The ``hits``, best first, that score at least ``WORTH_TELLING`` of the best."""
    return tuple(hit for hit in hits if hit.score >= WORTH_TELLING * hits[0].score)


def depth_for(limit: int) -> int:
    """How many hits of each ranking to weigh for the ``limit`` best."""
    return max(LEAST_DEPTH, DEPTH_MULTIPLIER * limit)


def _best(scores: Mapping[RecordId, float], created_at: Mapping[RecordId, datetime], limit: int) -> tuple[Hit, ...]:
    """The ``limit`` best hits, best first. Only records that may be among them become hits."""
    if limit < len(scores):
        least = sorted(scores.values(), reverse=True)[limit - 1]
        scores = {record_id: score for record_id, score in scores.items() if score >= least}
    return tuple(
        best_first(Hit(record_id, created_at[record_id], score) for record_id, score in scores.items())[:limit]
    )


def _relative(hits: Sequence[Hit], weight: float) -> dict[RecordId, float]:
    """The scores as shares of the best, times ``weight``; empty if the best is not above 0."""
    best = hits[0].score if hits else 0.0
    return {hit.record_id: weight * hit.score / best for hit in hits} if best > 0 else {}


# Scores that explain themselves: four signals, each from 0 to 1 or unknown, and their weighted mean.
#
# semantic      cosine of the record's vector and the query's, 0 if it is negative; unknown without these vectors
# fts5          bm25 of the record, as a share of the larger one of two scores: the best record's, and that of a
#               record of average length with every word of the query once
# recency       0.5 per half-life of age
# projectMatch  1 in the project that was asked about, 0.5 in another
#
# A signal depends on the record and the query alone; only ``fts5`` also depends on the best record. So neither the
# order nor the number of the records changes a score.

SAME_PROJECT = 1.0
OTHER_PROJECT = 0.5

KNOWLEDGE_FLOOR = 0.4
"""The relevance from which on knowledge is boosted. Knowledge about another subject has less (docs/search.md)."""

NEAR = 0.25
"""The relevance of the best result below which no result is near."""

SECONDS_AN_HOUR = 3600


@attrs.frozen(kw_only=True)
class Signals:
    """The signals of a record, each from 0 to 1. None: the signal was not computed, and counts as 0."""

    semantic: float | None = None
    fts5: float | None = None
    recency: float = 0.0
    project_match: float = 0.0


def semantic_signal(cosine: float) -> float:
    """``cosine`` (-1 to 1) as 0 to 1: an opposite vector counts as an unrelated one."""
    return min(1.0, max(0.0, cosine))


def fts5_signal(bm25: float, *, best: float, ideal: float) -> float:
    """``bm25`` as a share of the larger one of ``best`` and ``ideal``.

    A record with one word of five may be the best there is, but its score is still low.
    """
    top = max(best, ideal)
    return min(1.0, max(0.0, bm25 / top)) if top > 0 else 0.0


def recency_signal(made_at: datetime, now: datetime, *, half_life_hours: float) -> float:
    """exp(-ln 2 · age / half-life): 1 now, 0.5 after one half-life. A time in the future counts as now."""
    age_hours = max(0.0, (now - made_at).total_seconds() / SECONDS_AN_HOUR)
    return math.exp(-math.log(2) * age_hours / half_life_hours)


def project_signal(*, is_same: bool) -> float:
    """1 for a record of the project that was asked about, 0.5 for one of another."""
    return SAME_PROJECT if is_same else OTHER_PROJECT


def weighted_score(signals: Signals, weights: Weights, *, boost: float = 1.0) -> float:
    """The mean of the signals by their weights, times ``boost``: from 0 to ``boost``.

    Weights that sum to 1 are used as they are. 0 if every weight is 0.
    """
    total = math.fsum((weights.semantic, weights.fts5, weights.recency, weights.project_match))
    if total <= 0:
        return 0.0
    parts = (
        weights.semantic * (signals.semantic or 0.0),
        weights.fts5 * (signals.fts5 or 0.0),
        weights.recency * signals.recency,
        weights.project_match * signals.project_match,
    )
    return min(1.0, math.fsum(parts) / total) * boost


def signals_among(
    found: Found,
    hits: Collection[Hit],
    now: datetime,
    settings: ScoringSettings,
    *,
    is_same_project: bool,
    has_all_words: bool,
) -> dict[RecordId, Signals]:
    """For each of ``hits``, all signals that are known from the rankings ``found``.

    ``has_all_words``: every record with a word of the query is among the hits of the word ranking.
    """
    words, vectors = words_of(found), vectors_of(found)
    cosines = {hit.record_id: hit.score for hit in vectors.hits}
    if vectors.standings is not None:
        cosines |= vectors.standings.cosines({hit.record_id for hit in hits} - cosines.keys())
    bm25 = {hit.record_id: hit.score for hit in words.hits}
    best = max(bm25.values(), default=0.0)
    known = dict.fromkeys((hit.record_id for hit in hits), 0.0) if has_all_words else {}
    fts5 = known | {each: fts5_signal(score, best=best, ideal=words.ideal_score) for each, score in bm25.items()}
    return {
        hit.record_id: Signals(
            semantic=semantic_signal(cosines[hit.record_id]) if hit.record_id in cosines else None,
            fts5=fts5.get(hit.record_id),
            recency=recency_signal(hit.created_at, now, half_life_hours=settings.half_life_hours),
            project_match=project_signal(is_same=is_same_project),
        )
        for hit in hits
    }


def relevance(signals: Signals, weights: Weights) -> float:
    """How relevant a record is for the query, 0 to 1.

    It is the mean of ``semantic`` and ``fts5`` by their weights, or the one that is known. It is 1 if neither has a
    weight: then relevance does not matter.
    """
    known = [
        (weight, signal)
        for weight, signal in ((weights.semantic, signals.semantic), (weights.fts5, signals.fts5))
        if signal is not None
    ]
    if weights.semantic + weights.fts5 <= 0:
        return 1.0
    total = math.fsum(weight for weight, _signal in known)
    return min(1.0, math.fsum(weight * signal for weight, signal in known) / total) if total > 0 else 0.0


def score_of(signals: Signals, settings: ScoringSettings, *, is_knowledge: bool = False) -> float:
    """The weighted score: from 0 to 1; for knowledge up to ``knowledge_boost``."""
    return weighted_score(signals, settings.weights, boost=settings.knowledge_boost if is_knowledge else 1.0)
