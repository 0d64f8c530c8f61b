"""Scores that explain themselves, and the choice of which indexes stay in memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit
from kiro_learn.model.settings import ScoringSettings, Weights
from kiro_learn.retrieval.ranking.calibrated import Found, vectors_of, words_of

# Scores that explain themselves: four signals, each from 0 to 1 or not known, and their weighted mean.
#
# semantic      cosine of the record's vector with the query's, 0 if it is negative; not known without these vectors
# fts5          bm25 of the record, as a share of the larger one of the best record's and of what a record of
#               average length would score that holds every word of the query once
# recency       0.5 per half-life of age
# projectMatch  1 in the project that was asked about, 0.5 in another
#
# Rules of this file: a signal depends on the record and the query alone, but for ``fts5``, which also depends on
# the best record; so neither the order in which records come, nor how many come, changes a score.

SAME_PROJECT = 1.0
OTHER_PROJECT = 0.5

KNOWLEDGE_FLOOR = 0.4
"""Relevance from which knowledge is boosted; what is about something else has less (docs/search.md)."""

NEAR = 0.25
"""Relevance of the best result below which nothing is near."""

SECONDS_AN_HOUR = 3600


@attrs.frozen(kw_only=True)
class Signals:
    """The signals of a record, each from 0 to 1; None: it was not computed, and counts as 0."""

    semantic: float | None = None
    fts5: float | None = None
    recency: float = 0.0
    project_match: float = 0.0


def semantic_signal(cosine: float) -> float:
    """``cosine`` (-1 to 1) from 0 to 1: what points the other way is as far as what is unrelated."""
    return min(1.0, max(0.0, cosine))


def fts5_signal(bm25: float, *, best: float, ideal: float) -> float:
    """``bm25`` as a share of the larger of the two: a record that holds one word of five is not as good as it gets,
    though it may be the best there is.
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
    """Of each of ``hits`` all signals that are known by what the rankings ``found``.

    ``has_all_words``: every record with a word of the query is among the hits of the words.
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
    """How much a record has to do with the query, 0 to 1: the mean of ``semantic`` and ``fts5`` by their weights, or
    the one of them that is known. 1 if neither has a weight: then nothing is asked of it.
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
    """The weighted score: from 0 to 1, and to ``knowledge_boost`` for knowledge."""
    return weighted_score(signals, settings.weights, boost=settings.knowledge_boost if is_knowledge else 1.0)


# Decides which indexes stay in memory.

LARGE_SHARE = 0.5
"""An index that takes more than this share of the memory budget is large."""


def eviction_count(sizes: Sequence[int], most_bytes: int) -> int:
    """How many indexes to evict, from the front of ``sizes``, which is least recently used first.

    One large index is not counted, and the most recently used one always stays. Otherwise a project with half a million
    memories, asked in turn with a small one, would be read again for every prompt.
    """
    kept = counted_bytes = large_count = 0
    for size in reversed(sizes):
        if size > most_bytes * LARGE_SHARE:
            large_count += 1
        else:
            counted_bytes += size
        if kept and (counted_bytes > most_bytes or large_count > 1):
            break
        kept += 1
    return len(sizes) - kept
