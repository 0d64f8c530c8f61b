from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kiro_learn.retrieval.graph.budget import (
    LITERAL,
    RESOLVED,
    Found,
    Profile,
    effective_confidence,
    ranked,
    recency_factor,
    score,
)

NOW = datetime(2026, 2, 14, 12, 0, tzinfo=UTC)


def found(item_id: str = "x", **values: Any) -> Found:
    return Found(item_id=item_id, **values)


def hours(count: float) -> datetime:
    return NOW - timedelta(hours=count)


@pytest.mark.parametrize(("rank", "expected"), [(1, 1 / 61), (2, 1 / 62), (20, 1 / 80)])
def test_a_rank_is_worth_its_reciprocal_from_sixty_one_on(rank: int, expected: float) -> None:
    assert score(found(ranks={"keyword": rank}), LITERAL, now=NOW).score == pytest.approx(expected)


def test_two_first_places_are_worth_both() -> None:
    both = score(found(ranks={"keyword": 1, "semantic": 1}), LITERAL, now=NOW)
    assert both.score == pytest.approx(2 / 61)
    assert set(both.parts) == {"keyword", "semantic"}


@pytest.mark.parametrize(("depth", "expected"), [(0, 0.02), (1, 0.02 / 1.5), (2, 0.01)])
def test_what_is_near_in_the_graph_is_worth_more(depth: int, expected: float) -> None:
    assert score(found(depth=depth), LITERAL, now=NOW).score == pytest.approx(expected)


@pytest.mark.parametrize(("age", "expected"), [(0, 2.0), (84, 1.5), (168, 1.0), (200, 1.0), (-5, 2.0)])
def test_the_literal_boost_for_recent_things_is_gone_after_a_week(age: float, expected: float) -> None:
    assert recency_factor(LITERAL, NOW, hours(age)) == pytest.approx(expected)


@pytest.mark.parametrize(("age", "expected"), [(0, 1.15), (84, 1.0), (168, 0.85), (10_000, 0.85)])
def test_the_resolved_boost_is_bounded(age: float, expected: float) -> None:
    assert recency_factor(RESOLVED, NOW, hours(age)) == pytest.approx(expected)


@pytest.mark.parametrize(("importance", "expected"), [(1, 0.84), (5, 1.0), (10, 1.2)])
def test_importance_weighs_from_four_fifths_to_six_fifths(importance: int, expected: float) -> None:
    scored = score(found(depth=0, importance=importance), LITERAL, now=NOW)
    assert scored.parts["importance"] == pytest.approx(expected)
    assert scored.score == pytest.approx(0.02 * expected)


def test_confidence_counts_once_and_zero_is_zero() -> None:
    assert score(found(depth=0, confidence=0.5), LITERAL, now=NOW).score == pytest.approx(0.01)
    assert score(found(depth=0, confidence=0.0), LITERAL, now=NOW).score == 0


def test_recency_can_be_ignored() -> None:
    old, new = (
        found("old", ranks={"keyword": 1}, happened_at=hours(900)),
        found("new", ranks={"keyword": 2}, happened_at=hours(1)),
    )
    assert [each.found.item_id for each in ranked([old, new], LITERAL, now=NOW)] == ["new", "old"]
    kept = ranked([old, new], LITERAL, now=NOW, ignores_recency=True)
    assert [each.found.item_id for each in kept] == ["old", "new"]


def test_the_hybrid_order_counts_but_for_the_literal_profile() -> None:
    things = [found("both", ranks={"keyword": 9, "fused": 1}), found("fused", ranks={"fused": 2})]
    assert [each.found.item_id for each in ranked(things, RESOLVED, now=NOW)] == ["both", "fused"]
    (kept,) = ranked(things, LITERAL, now=NOW)
    assert kept.parts == {"keyword": pytest.approx(1 / 69)}


def test_a_neighbour_of_a_hub_is_worth_less() -> None:
    few, many = (score(found(depth=1, degree=degree), RESOLVED, now=NOW).score for degree in (1, 50))
    assert few > 3 * many
    assert score(found(depth=0, degree=50), RESOLVED, now=NOW).score == pytest.approx(0.02)


def test_ties_go_to_the_surer_then_to_the_newer_then_to_the_lower_id() -> None:
    profile = Profile(recency=0, is_bounded=False, penalizes_hubs=False, with_confidence=False)
    things = [
        found("d", ranks={"keyword": 1}),
        found("c", ranks={"keyword": 1}),
        found("b", ranks={"keyword": 1}, happened_at=hours(1)),
        found("a", ranks={"keyword": 1}, confidence=0.5),
    ]
    assert [each.found.item_id for each in ranked(things, profile, now=NOW)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("days", "expected"), [(0, 0.8), (120, 0.4), (240, 0.2), (-9, 0.8)])
def test_confidence_halves_with_each_half_life(days: float, expected: float) -> None:
    confirmed = NOW - timedelta(days=days)
    sure = effective_confidence(0.8, half_life_days=120, confirmed_at=confirmed, now=NOW)
    assert sure == pytest.approx(expected)
    assert effective_confidence(0.8, half_life_days=None, confirmed_at=confirmed, now=NOW) == 0.8
