"""The figures that the search guide gives for its signals and weights."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kiro_learn.config import SearchConfig
from kiro_learn.model.settings import Weights
from kiro_learn.retrieval.ranking.signals import (
    Signals,
    fts5_signal,
    project_signal,
    recency_signal,
    semantic_signal,
    weighted_score,
)

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SEARCH = Weights(semantic=0.45, fts5=0.35, recency=0.10, project_match=0.10)


@pytest.mark.parametrize(("days", "recency"), [(0, 1.0), (7, 0.5), (14, 0.25), (30, 0.051), (-1, 1.0)])
def test_half_life_means_half(days: float, recency: float) -> None:
    found = recency_signal(NOW - timedelta(days=days), NOW, half_life_hours=168)
    assert found == pytest.approx(recency, abs=5e-4)


def test_the_score_of_the_example_is_the_formula() -> None:
    signals = Signals(semantic=0.82, fts5=0.91, recency=0.75, project_match=1.0)
    assert weighted_score(signals, SEARCH) == pytest.approx(0.45 * 0.82 + 0.35 * 0.91 + 0.10 * 0.75 + 0.10)
    assert weighted_score(signals, SEARCH, boost=3.0) == pytest.approx(3 * weighted_score(signals, SEARCH))


def test_the_settings_have_the_weights_of_the_guide() -> None:
    config = SearchConfig()
    assert (config.semantic_weight, config.fts5_weight, config.recency_weight) == (0.45, 0.35, 0.10)
    assert (config.project_weight, config.knowledge_boost, config.half_life_hours) == (0.10, 3.0, 168.0)


def test_signals_stay_between_nothing_and_one() -> None:
    assert (semantic_signal(-0.4), semantic_signal(0.4), semantic_signal(1.0000002)) == (0.0, 0.4, 1.0)
    assert (fts5_signal(2, best=4, ideal=8), fts5_signal(4, best=4, ideal=1)) == (0.25, 1.0)
    assert fts5_signal(0, best=0, ideal=0) == 0.0
    assert (project_signal(is_same=True), project_signal(is_same=False)) == (1.0, 0.5)


def test_without_weights_nothing_scores() -> None:
    assert weighted_score(Signals(semantic=1), Weights(semantic=0, fts5=0, recency=0, project_match=0)) == 0
