"""From what a project's rankings found to signals and scores. Pure, given the moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import attrs

from kiro_learn.config import SearchConfig
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.ranking.signals import (
    Scored,
    Signals,
    Weights,
    fts5_signal,
    project_signal,
    recency_signal,
    semantic_signal,
    weighted_score,
)
from kiro_learn.services.project_rankings import ProjectFindings

Source: TypeAlias = Literal["hybrid", "vector", "keyword"]


@attrs.frozen
class RecordScoring:
    """The scores of one search, which asks about ``namespace`` at ``now``."""

    namespace: Namespace
    now: datetime
    config: SearchConfig

    def by_words(self, hits: tuple[Hit, ...]) -> list[Scored]:
        """Each with its bm25 as score."""
        best = max((hit.score for hit in hits), default=0.0)
        return [
            Scored(
                hit.record_id,
                hit.created_at,
                hit.score,
                self._signals(self.namespace, hit, fts5=fts5_signal(hit.score, best=best, ideal=0.0)),
            )
            for hit in hits
        ]

    def by_meaning(self, hits: tuple[Hit, ...], *, least: float) -> list[Scored]:
        """Those with a cosine of at least ``least``, which is their score."""
        return [
            Scored(hit.record_id, hit.created_at, hit.score, self._signals(self.namespace, hit, semantic=hit.score))
            for hit in hits
            if hit.score >= least
        ]

    def by_all(self, found: ProjectFindings) -> list[tuple[Scored, Source]]:
        """Every record that either ranking found, with all of its signals and their weighted mean, and which did."""
        words = {hit.record_id: hit for hit in found.words.hits}
        vectors = {hit.record_id: hit for hit in found.vectors.hits}
        cosines = {record_id: hit.score for record_id, hit in vectors.items()}
        if found.vectors.standings is not None:
            cosines |= found.vectors.standings.cosines(words.keys() - vectors.keys())
        best = max((hit.score for hit in found.words.hits), default=0.0)
        weights = _weights(self.config)
        scored: list[tuple[Scored, Source]] = []
        for record_id, hit in (vectors | words).items():
            bm25 = words[record_id].score if record_id in words else 0.0
            signals = self._signals(
                found.project.namespace,
                hit,
                semantic=cosines.get(record_id, 0.0),
                fts5=fts5_signal(bm25, best=best, ideal=found.words.ideal_score),
            )
            score = weighted_score(signals, weights)
            scored.append((Scored(record_id, hit.created_at, score, signals), _source(record_id, words, vectors)))
        return scored

    def _signals(self, namespace: Namespace, hit: Hit, *, semantic: float = 0.0, fts5: float = 0.0) -> Signals:
        return Signals(
            semantic=semantic_signal(semantic),
            fts5=fts5,
            recency=recency_signal(hit.created_at, self.now, half_life_hours=self.config.half_life_hours),
            project_match=project_signal(is_same=namespace == self.namespace),
        )


def _weights(config: SearchConfig) -> Weights:
    return Weights(
        semantic=config.semantic_weight,
        fts5=config.fts5_weight,
        recency=config.recency_weight,
        project_match=config.project_weight,
    )


def _source(record_id: RecordId, words: Mapping[RecordId, Hit], vectors: Mapping[RecordId, Hit]) -> Source:
    if record_id in words and record_id in vectors:
        return "hybrid"
    return "keyword" if record_id in words else "vector"
