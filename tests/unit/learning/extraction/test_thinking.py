"""A model's thoughts, with their drafts and doubts, are no part of its answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kiro_learn.errors import LlmError
from kiro_learn.learning import consolidation
from kiro_learn.learning.extraction import parsing
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.parsing import without_thinking
from kiro_learn.learning.reconciliation.judge import parse_verdict
from kiro_learn.learning.reconciliation.plan import KeepSeparate, Merge
from tests.unit.learning.histories import event_id

BATCH = FramedBatch("", ((event_id(1),),))
DRAFT = '<memory_record type="decision" events="1"><title>Draft</title><summary>Maybe.</summary></memory_record>'
FINAL = '<memory_record type="decision" events="1"><title>Final</title><summary>Sure.</summary></memory_record>'
MERGE = "<merge><merged_record_id>a</merged_record_id><title>T</title><summary>S</summary></merge>"

WAYS: dict[str, Callable[[str, str], str]] = {
    "closed": lambda thought, answer: f"<think>\n{thought}\n</think>\n\n{answer}",
    "empty": lambda _, answer: f"<think>\n\n</think>\n\n{answer}",
    "another tag": lambda thought, answer: f"<thinking>{thought}</thinking>{answer}",
    "upper case": lambda thought, answer: f"<THINK >{thought}</THINK >{answer}",
    "with attributes": lambda thought, answer: f'<reasoning effort="high">{thought}</reasoning>{answer}',
    "brackets": lambda thought, answer: f"[THINK]{thought}[/THINK]{answer}",
    "other brackets": lambda thought, answer: f"\u25c1think\u25b7{thought}\u25c1/think\u25b7{answer}",
    "in a code fence": lambda thought, answer: f"```xml\n<think>{thought}</think>\n{answer}\n```",
    "a code fence each": lambda thought, answer: f"<think>\n```\n{thought}\n```\n</think>\n```xml\n{answer}\n```",
    "opened by the server's template": lambda thought, answer: f"{thought}\n</think>\n{answer}",
    "twice": lambda thought, answer: f"<think>{thought}</think><think>{thought}</think>{answer}",
    "nested": lambda thought, answer: f"<think>{thought}<think>b</think>{thought}</think>{answer}",
    "naming its own tag": lambda thought, answer: f"<think>I must close <think>. {thought}</think>{answer}",
    "behind the answer, unclosed": lambda thought, answer: f"{answer}\n<think>{thought}",
    "naming a record that it does not write": lambda thought, answer: f"<memory_record>? {thought}</think>{answer}",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_record_that_was_only_thought_of_is_not_learned(way: str) -> None:
    drafts = parsing.parse(WAYS[way](DRAFT, FINAL), BATCH)
    assert [draft.title for draft in drafts] == ["Final"]


@pytest.mark.parametrize("way", WAYS)
def test_a_skip_that_was_only_thought_of_is_none_and_one_that_was_answered_is(way: str) -> None:
    assert len(parsing.parse(WAYS[way]("<skip/>", FINAL), BATCH)) == 1
    assert parsing.parse(WAYS[way](DRAFT, "<skip/>"), BATCH) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_verdict_that_was_only_thought_of_is_none(way: str) -> None:
    assert isinstance(parse_verdict(WAYS[way]("<keep_separate/>", MERGE)), Merge)
    assert isinstance(parse_verdict(WAYS[way](MERGE, "<keep_separate/>")), KeepSeparate)


@pytest.mark.parametrize("way", WAYS)
def test_an_entry_that_was_only_thought_of_replaces_nothing(way: str) -> None:
    answer = WAYS[way]("<compacted_entry>draft</compacted_entry>", "<compacted_entry>final</compacted_entry>")
    assert [entry.text for entry in consolidation.parse(answer)] == ["final"]


@pytest.mark.parametrize("answer", ["<think>", f"<think>{DRAFT}", f"```\n<thinking>{DRAFT}\n```", f"{DRAFT}</think>\n"])
def test_an_answer_that_never_came_to_an_end_of_thinking_is_none(answer: str) -> None:
    with pytest.raises(LlmError, match="thought"):
        parsing.parse(answer, BATCH)


@pytest.mark.parametrize(
    "text",
    [
        FINAL.replace("Sure.", "The parser strips <think> before it reads."),
        FINAL.replace("Sure.", "It strips <think>a</think> and </thinking>."),
        f"{FINAL} {FINAL}",
        "It thinks [think](a.md) about <thinkers> and </skip>.",
        "",
        " \n",
    ],
)
def test_what_a_record_says_about_thinking_is_what_it_says(text: str) -> None:
    assert without_thinking(text) == text
