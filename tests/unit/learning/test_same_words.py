"""A memory holds the words of another one where it has a sentence of it, or much of a long one."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kiro_learn.learning.aftermath import holding_words_of, passages_of
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.testing.daemon import a_record

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
