"""A memory was used if more of its names turn up in what followed than chance has; and what is an objection."""

from __future__ import annotations

import pytest

from kiro_learn.learning.aftermath import is_used, names_one, objects, signs_of
from kiro_learn.model.retrieval import MOST_EFFECT, Feedback, FeedbackCounts
from kiro_learn.testing.daemon import a_record

MEMORY = a_record(1, "TokenCache expires early", "`expire_all` in src/cache/token_cache.py runs before refresh_token")
OTHER = a_record(2, "Deploys", "deploy_prod.sh calls upload_assets and refresh_token")


def test_the_signs_are_names_that_were_not_said() -> None:
    signs = signs_of(MEMORY, "why does tokencache expire early?")
    assert {"expire_all", "src/cache/token_cache.py", "refresh_token"} <= signs
    assert "tokencache" not in signs
    assert "before" not in signs


def test_it_was_used_if_its_names_follow_beyond_chance() -> None:
    signs, others = signs_of(MEMORY, ""), [signs_of(OTHER, "")]
    assert is_used(signs, others, "edit src/cache/token_cache.py: call refresh_token, then expire_all")
    assert not is_used(signs, others, "refresh_token")
    assert not is_used(signs, others, "read the footer of the page")
    assert not is_used(frozenset(), others, "refresh_token expire_all")


def test_what_others_share_with_what_followed_is_chance() -> None:
    others = [signs_of(OTHER, "")]
    followed = "deploy_prod.sh upload_assets expire_all tokencache"
    assert not is_used(signs_of(MEMORY, ""), others, followed)
    assert is_used(signs_of(MEMORY, ""), [], followed)


@pytest.mark.parametrize(
    "prompt",
    ["no, use another", "wrong.", "that was changed last week", "it's outdated", "not any more", "we dropped that"],
)
def test_an_objection_is_recognised(prompt: str) -> None:
    assert objects(prompt)


@pytest.mark.parametrize("prompt", ["ok thanks", "no problem, go on", "now add a test", "it was good", "note that"])
def test_what_objects_to_nothing_is_none(prompt: str) -> None:
    assert not objects(prompt)


def test_an_objection_may_name_what_it_is_about() -> None:
    assert names_one(signs_of(MEMORY, ""), "no, Expire_All is gone")
    assert not names_one(signs_of(MEMORY, ""), "no, go on")


def test_the_effect_is_bounded_and_never_comes_from_being_told_alone() -> None:
    assert FeedbackCounts(ignored=10_000).factor == FeedbackCounts().factor == 1
    assert 1 < FeedbackCounts(used=1).factor < FeedbackCounts(helped=1).factor < 1 + MOST_EFFECT
    assert 1 - MOST_EFFECT < FeedbackCounts(wrong=1).factor < FeedbackCounts(objected=1).factor < 1
    assert FeedbackCounts(helped=10**9).factor <= 1 + MOST_EFFECT
    assert FeedbackCounts(wrong=10**9).factor >= 1 - MOST_EFFECT
    assert FeedbackCounts(used=1).plus(Feedback.OBJECTED).factor == 1
