from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.retrieval.graph.block import KNOWN_CONTEXT, LEARNED_PROCEDURES, RELEVANT_HISTORY, block_of
from kiro_learn.retrieval.graph.budget import (
    LITERAL,
    RESOLVED,
    SHARES,
    Category,
    Found,
    Line,
    Profile,
    TokenSlots,
    effective_confidence,
    fitted,
    ranked,
    recency_factor,
    score,
    token_budget,
    without_likenesses,
)
from kiro_learn.retrieval.rendering.passages import count_tokens


def words(text: str) -> int:
    return len(text.split())


def line(number: int, text: str = "", category: Category = Category.EPISODE, **values: Any) -> Line:
    section = {Category.PROCEDURE: LEARNED_PROCEDURES, Category.EPISODE: RELEVANT_HISTORY}.get(category, KNOWN_CONTEXT)
    return Line(item_id=f"i{number}", category=category, section=section, text=text or f"- line {number}", **values)


def test_the_documented_slots_leave_30800() -> None:
    slots = TokenSlots(total=128_000, system=2_000 + 500 + 300, history=80_000, reserve=8_000)
    assert token_budget(slots) == 30_800
    assert token_budget(TokenSlots(total=1_000, system=2_000)) == 0


def test_the_shares_are_the_whole() -> None:
    assert sum(SHARES.values()) == pytest.approx(1)


def test_what_a_category_leaves_goes_to_the_best_of_the_others() -> None:
    episodes = [line(number, "- a b") for number in range(40)]
    assert len(fitted(episodes, budget=100, count=words)) == 32  # three words each, and a heading


def test_no_category_takes_the_share_of_another() -> None:
    episodes = [line(number, "- a b", score=9) for number in range(40)]
    procedure = line(99, "- p q", Category.PROCEDURE)
    kept = fitted([*episodes, procedure], budget=100, count=words)
    assert procedure in kept


def test_a_shorter_form_stands_in_where_only_it_fits() -> None:
    kept = fitted([line(1, "- " + "long " * 50, short="- short")], budget=10, count=words)
    assert [each.text for each in kept] == ["- short"]
    assert fitted([line(1, "- " + "long " * 50)], budget=10, count=words) == []


def test_what_says_the_same_is_said_once() -> None:
    lines = [line(1, "- Kira runs on Vercel"), line(2, "- kira runs on vercel."), line(3, "- Otto dislikes Docker")]
    assert [each.item_id for each in without_likenesses(lines)] == ["i1", "i3"]


def test_what_is_told_around_a_text_makes_no_other_text_of_it() -> None:
    wish = line(1, "- tools.pnpm: Always use pnpm", Category.PREFERENCE, says="Always use pnpm")
    memories = [
        line(2, "- [29 days ago] Always use pnpm.", says="Always use pnpm."),
        line(3, "- [29 days ago] Always use npm.", says="Always use npm."),
    ]
    assert [each.item_id for each in without_likenesses([wish, *memories])] == ["i1", "i3"]


def test_memories_that_differ_in_a_number_are_both_told() -> None:
    text = "Moved the staging server of the shop in front of the proxy to port"
    memories = [line(number, f"- {text} {port}", says=f"{text} {port}") for number, port in enumerate((8080, 9090))]
    assert without_likenesses(memories) == memories


def test_facts_that_differ_in_a_sign_are_both_told() -> None:
    facts = [line(number, f"- shop uses {name}", Category.NEAR) for number, name in enumerate(("C", "C++", "C#"))]
    assert without_likenesses(facts) == facts


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=7).map(" ".join), max_size=12))
def test_likenesses_are_found_as_by_comparing_each_with_each(texts: list[str]) -> None:
    lines = [line(number, text) for number, text in enumerate(texts)]
    kept: list[Line] = []
    for each in lines:
        words = set(each.text.split())
        others = [set(other.text.split()) for other in kept]
        shares = [len(words & other) / len(words | other) for other in others]
        if all(share < 0.8 for share in shares):
            kept.append(each)
    assert without_likenesses(lines) == kept


LINES = st.lists(
    st.builds(
        line,
        st.integers(0, 10**6),
        st.text(st.characters(codec="ascii", exclude_characters="\n\r"), min_size=1, max_size=80),
        st.sampled_from(Category),
        short=st.sampled_from(["", "- s"]),
    ),
    unique_by=lambda each: each.item_id,
    max_size=30,
)


@given(LINES, st.integers(0, 120))
def test_the_block_never_has_more_tokens_than_it_may(lines: list[Line], budget: int) -> None:
    kept = fitted(lines, budget=budget, count=count_tokens)
    assert count_tokens(block_of(kept)) <= budget
    ids = [each.item_id for each in lines]
    assert [each.item_id for each in kept] == [each for each in ids if each in {k.item_id for k in kept}]


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
