"""A weighted score stays in its range, grows with each signal, and does not depend on the order of records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, best_first
from kiro_learn.model.settings import Weights
from kiro_learn.retrieval.ranking.calibrated import (
    Signals,
    fts5_signal,
    recency_signal,
    semantic_signal,
    weighted_score,
)

START = datetime(2026, 1, 5, tzinfo=UTC)
NAMES = [field.name for field in attrs.fields(Signals)]

shares = st.floats(0, 1)
signals = st.builds(Signals, semantic=shares, fts5=shares, recency=shares, project_match=shares)
weights = st.builds(Weights, semantic=shares, fts5=shares, recency=shares, project_match=shares)
finite = st.floats(-1e12, 1e12)
moments = st.integers(-(10**6), 10**6).map(lambda hours: START + timedelta(hours=hours))
scored = st.lists(
    st.builds(
        Hit,
        record_id=st.integers(0, 30).map(lambda number: RecordId(f"mr_{number:026}")),
        created_at=st.integers(0, 2).map(lambda minute: START + timedelta(minutes=minute)),
        score=st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.9, 1.0]),
    ),
    max_size=20,
    unique_by=lambda each: each.record_id,
)


@given(signals=signals, weights=weights, boost=st.floats(1, 10))
def test_a_score_stays_in_its_range(signals: Signals, weights: Weights, boost: float) -> None:
    """From 0 to the boost, whatever the weights are."""
    assert 0 <= weighted_score(signals, weights, boost=boost) <= boost


@given(signals=signals, weights=weights, name=st.sampled_from(NAMES), more=shares)
def test_a_score_grows_with_each_signal(signals: Signals, weights: Weights, name: str, more: float) -> None:
    """A larger signal never makes a lower score."""
    larger = attrs.evolve(signals, **{name: max(more, getattr(signals, name))})
    assert weighted_score(larger, weights) >= weighted_score(signals, weights)


@given(value=finite, other=finite, best=finite, ideal=finite)
def test_each_signal_is_in_range_and_grows_with_what_it_measures(
    value: float, other: float, best: float, ideal: float
) -> None:
    low, high = sorted((value, other))
    for one, two in (
        (semantic_signal(low), semantic_signal(high)),
        (fts5_signal(low, best=best, ideal=ideal), fts5_signal(high, best=best, ideal=ideal)),
    ):
        assert 0 <= one <= two <= 1


@given(one=moments, other=moments, now=moments, half_life=st.floats(0.01, 1e6))
def test_recency_is_in_range_and_falls_with_age(
    one: datetime, other: datetime, now: datetime, half_life: float
) -> None:
    older, newer = sorted((one, other))
    found = [recency_signal(each, now, half_life_hours=half_life) for each in (older, newer)]
    assert 0 <= found[0] <= found[1] <= 1


@given(story=scored, data=st.data())
def test_the_order_of_what_is_scored_does_not_matter(story: list[Hit], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(story))
    assert best_first(shuffled) == best_first(story)
