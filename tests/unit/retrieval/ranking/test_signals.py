"""The search guide's numbers for its signals and weights."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kiro_learn.config import SearchConfig
from kiro_learn.model.settings import Weights
from kiro_learn.retrieval.ranking.calibrated import (
    Signals,
    fts5_signal,
    project_signal,
    recency_signal,
    semantic_signal,
    weighted_score,
)
from kiro_learn.retrieval.ranking.vector_index import eviction_count

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


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([40, 30, 30], 0, id="all fit"),
        pytest.param([40, 30, 40], 1, id="the one used longest ago goes"),
        pytest.param([10, 40, 40, 40], 2, id="as many as it takes"),
        pytest.param([500], 0, id="the only one stays, whatever its size"),
        pytest.param([500, 1], 0, id="a large one is not let go of for a small one"),
        pytest.param([1, 500], 0, id="nor a small one for a large one"),
        pytest.param([500, 50, 50], 0, id="beside it there is room for as much as without it"),
        pytest.param([500, 50, 40, 30], 2, id="used longest ago, it goes too"),
        pytest.param([50, 40, 500, 30], 1, id="used of late, it does not"),
        pytest.param([51, 51], 1, id="of two large ones the one used last stays"),
        pytest.param([10, 60, 10, 70], 2, id="with all that was used before it"),
    ],
)
def test_who_makes_room(sizes: list[int], expected: int) -> None:
    assert eviction_count(sizes, most_bytes=100) == expected
