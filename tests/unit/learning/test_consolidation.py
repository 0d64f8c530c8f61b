from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.consolidation import distilled, text_bytes
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from tests.unit.storage.builders import record, record_id

NEW = record_id(99)
LONG = "We moved the pool to a fixed size. " + "Then a lot of other things were tried and measured. " * 40


def short_of(**values: Any) -> MemoryRecord | None:
    return distilled(attrs.evolve(record(1), **values), NEW)


def test_the_beginning_of_the_answer_and_the_first_facts_stay() -> None:
    facts = tuple(f"Fact {number} of the pool." for number in range(9))
    short = short_of(summary=f"Asked: Why is the pool slow? {'x ' * 200}\n{LONG}", facts=facts)
    assert short is not None
    question, answer = short.summary.split("\n")
    assert question.startswith("Asked: Why is the pool slow?")
    assert len(question) < 120
    assert answer.startswith("We moved the pool to a fixed size. Then a lot")
    assert answer.endswith("measured.")
    assert short.facts == facts[:3]


def test_it_is_the_memory_of_the_same_events_and_time_in_the_same_project() -> None:
    old = attrs.evolve(record(1, "The pool"), summary=LONG, concepts=("pool",), files_read=("pool.py",), importance=4)
    short = distilled(old, NEW)
    assert short is not None
    assert short == attrs.evolve(old, record_id=NEW, strategy="distilled", summary=short.summary)


@pytest.mark.parametrize("summary", ["Short.", "a" * 480, "Asked: Why?\nBecause."])
def test_what_would_hardly_become_shorter_stays_as_it_is(summary: str) -> None:
    assert short_of(summary=summary) is None


def test_a_memory_of_an_older_version_whose_title_nobody_can_see_is_shortened_too() -> None:
    short = distilled(unchecked_evolve(record(1), title=" ", summary=LONG), NEW)
    assert short is not None
    assert short.title == " "


def test_a_summary_that_is_only_a_question_keeps_it() -> None:
    short = short_of(summary=f"Asked: {LONG}")
    assert short is not None
    assert short.summary.startswith("Asked: We moved the pool")


def _can_be_seen(text: str) -> bool:
    return any(sign.isprintable() and not sign.isspace() for sign in text)


@given(
    summary=st.text(min_size=1, max_size=4000).filter(_can_be_seen),
    facts=st.lists(st.text(min_size=1, max_size=500), max_size=50).map(tuple),
)
def test_a_short_memory_is_valid_half_as_long_and_not_shortened_again(summary: str, facts: tuple[str, ...]) -> None:
    old = attrs.evolve(record(1), summary=summary, facts=facts)
    short = distilled(old, NEW)
    if short is not None:
        assert 2 * text_bytes(short) <= text_bytes(old)
        assert distilled(short, RecordId("mr_" + "0" * 26)) is None or text_bytes(short) > 0
