"""A memory was used if more of its names occur in the events after it than by chance; and what is an objection.

Things that share something form one group, also through other things.

A memory holds the words of another one if it has a sentence of it, or much of a long sentence.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.aftermath import (
    connected,
    holding_words_of,
    is_used,
    names_one,
    objects,
    passages_of,
    signs_of,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MemoryRecord
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


SHARES = st.lists(st.frozensets(st.integers(0, 9), max_size=3), max_size=8)


def test_a_chain_is_one_group() -> None:
    assert connected(["ab", "x", "bc", "", "cd"]) == [[0, 2, 4], [1], [3]]


def test_nothing_has_no_groups() -> None:
    assert connected([]) == []


@given(SHARES)
def test_groups_share_nothing_and_cannot_be_parted(shares: list[frozenset[int]]) -> None:
    groups = connected(shares)
    assert sorted(index for group in groups for index in group) == list(range(len(shares)))
    assert groups == sorted(sorted(group) for group in groups)
    for group in groups:
        inside = [shares[index] for index in group]
        outside = [share for index, share in enumerate(shares) if index not in group]
        assert not any(one & other for one in inside for other in outside)
        reached = inside[0]
        for _ in group:
            reached |= frozenset().union(*(share for share in inside if share & reached))
        assert len(group) == 1 or all(share <= reached for share in inside)


RULE = "Always refresh the token before the expiry check"
FORGOTTEN = a_record(1, RULE, f"{RULE}, never after it.")


def other(**values: Any) -> MemoryRecord:
    return attrs.evolve(a_record(2, "Login drops", "The clock was wrong."), **values)


@pytest.mark.parametrize(
    "values",
    [
        {"title": RULE.upper()},
        {"summary": f"Asked: Why does the login drop? {RULE}.\nThe check ran first."},
        {"facts": ("the build is slow", "Said by Ann: always *refresh* the token before the expiry check.")},
        {"text": f"$ cat notes\n- {RULE}\n"},
    ],
)
def test_a_sentence_is_found_wherever_it_stands(values: dict[str, Any]) -> None:
    assert holding_words_of(FORGOTTEN, [FORGOTTEN, other(**values)]) == [other(**values)]


def test_eight_words_of_a_long_sentence_are_enough() -> None:
    words = [f"word{number}" for number in range(20)]
    long = a_record(1, "Short", " ".join(words))
    assert holding_words_of(long, [other(summary=" ".join(words[5:13]))])
    assert not holding_words_of(long, [other(summary=" ".join(words[5:12]))])
    assert holding_words_of(a_record(1, "Short", " ".join(words[5:13])), [other(text=" ".join(words))])


@pytest.mark.parametrize("said", ["Use pnpm here", "it is not that it was so", "Now it is done", "the the the the"])
def test_a_few_common_words_are_nobodys(said: str) -> None:
    assert passages_of(a_record(1, said, said)) == ()
    assert holding_words_of(a_record(1, said, said), [other(summary=said)]) == []


def test_words_in_another_order_are_others() -> None:
    assert not holding_words_of(FORGOTTEN, [other(summary="Before the expiry check, always refresh the token")])


def test_a_script_without_spaces_is_compared_by_its_characters() -> None:
    said = "有効期限を確認する前にトークンを更新する"
    assert holding_words_of(a_record(1, "規則", said), [other(summary=f"質問。{said}。")])


def test_those_of_the_same_events_come_first_then_the_newest() -> None:
    same_turn = attrs.evolve(
        a_record(2, RULE), source_event_ids=(EventId(f"00{9:024d}"), FORGOTTEN.source_event_ids[0])
    )
    older, newer = a_record(3, RULE), a_record(4, RULE)
    assert holding_words_of(FORGOTTEN, [older, newer, same_turn]) == [same_turn, newer, older]
