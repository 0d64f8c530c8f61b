"""Many entries are replaced by fewer and smaller ones, which lose none of their events."""

from __future__ import annotations

from itertools import count
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.sqlite import rows
from kiro_learn.errors import LlmError
from kiro_learn.learning.consolidation import (
    INSTRUCTIONS_CHARACTERS,
    Compacted,
    distilled,
    entries_of,
    oldest_half,
    parse,
    prompt_for,
    text_bytes,
)
from kiro_learn.learning.extraction.splitting import Portion, portion
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import Event, EventKind, TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from tests.unit.learning.histories import START, answer, event_id, prompt, waiting
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


def a_portion(*events: Event, earlier: tuple[Event, ...] = ()) -> Portion:
    return portion(BufferSnapshot(waiting(*events), earlier), 1e9)


def made_of(part: Portion, *compacted: Compacted) -> tuple[BufferedEvent, ...]:
    numbers = count(500)
    return entries_of(compacted, part, lambda: event_id(next(numbers)))


TURNS = (prompt(1, "a"), answer(2, "A"), prompt(3, "b", session="two"), answer(4, "B", session="two"))
PART = a_portion(*TURNS)


def test_the_prompt_frames_the_batch_as_data_to_be_compacted() -> None:
    text = prompt_for(PART)
    assert text.startswith("<compaction_request>\n<instructions>")
    assert f"</instructions>\n{PART.batch.text}\n</compaction_request>" in text
    assert len(text) - len(PART.batch.text) <= INSTRUCTIONS_CHARACTERS


def test_entries_are_read_in_order_with_their_numbers_whatever_stands_around_them() -> None:
    text = (
        "Sure!\n<compacted_entry events='1, 2'> a &lt; b\n</compacted_entry> and <compacted_entry></compacted_entry>"
        '<compacted_entry events="3">c</compacted_entry >\nDone.'
    )
    assert parse(text) == [Compacted("a < b", frozenset({1, 2})), Compacted("c", frozenset({3}))]


def test_an_entry_that_never_closes_ends_where_the_next_opens() -> None:
    assert [each.text for each in parse("<compacted_entry>a<compacted_entry>b")] == ["a", "b"]


def test_events_beyond_our_limits_are_compacted_like_any_others() -> None:
    """The first kiro-learn may have stored such events."""
    wide = tuple(unchecked_evolve(event, session_id="", actor_id="a" * 200) for event in TURNS)
    (entry,) = made_of(a_portion(*wide), Compacted("a", frozenset()))
    assert (entry.event.session_id, entry.event.actor_id) == ("", "a" * 200)
    assert rows.to_compaction(*_row_of(entry)) == (entry.event, entry.stands_for)


def _row_of(entry: BufferedEvent) -> tuple[str, str]:
    values = rows.from_compaction(entry.event, entry.stands_for)
    return values["compaction_json"], values["stands_for_json"]


@pytest.mark.parametrize("nothing", ["", "I cannot do that.", "<skip/>", "<compacted_entry> </compacted_entry>"])
def test_no_entry_is_a_failure(nothing: str) -> None:
    with pytest.raises(LlmError, match="no compacted entry"):
        parse(nothing)


def test_an_entry_is_a_session_summary_of_what_it_cites() -> None:
    (entry,) = made_of(PART, Compacted("a led to A", frozenset({1, 2})))
    assert entry.stands_for == (event_id(1), event_id(2))
    event = entry.event
    assert (event.event_id, event.kind, event.body) == (
        event_id(500),
        EventKind.SESSION_SUMMARY,
        TextBody("a led to A"),
    )
    assert (event.session_id, event.namespace, event.source) == ("one", TURNS[1].namespace, TURNS[1].source)


def test_an_entry_is_as_late_as_the_latest_and_in_the_session_of_the_newest() -> None:
    late_first = attrs.evolve(TURNS[0], valid_time=START.replace(hour=23))
    (entry,) = made_of(a_portion(late_first, *TURNS[1:]), Compacted("both", frozenset({1, 3})))
    assert entry.event.valid_time == late_first.valid_time
    assert entry.event.session_id == "two"


@pytest.mark.parametrize("numbers", [frozenset[int](), frozenset({77})])
def test_an_entry_that_cites_nothing_stands_for_everything(numbers: frozenset[int]) -> None:
    (entry,) = made_of(PART, Compacted("all", numbers))
    assert entry.stands_for == tuple(event.event_id for event in TURNS)


def test_a_compaction_of_a_compaction_stands_for_what_the_first_stood_for() -> None:
    first = BufferedEvent(answer(9, "x" * 300), 1, 400, stands_for=(event_id(1), event_id(2)))
    part = portion(BufferSnapshot((first, *waiting(*TURNS[2:]))), 1e9)
    (entry,) = made_of(part, Compacted("all", frozenset({1, 3})))
    assert entry.stands_for == (event_id(1), event_id(2), event_id(4))


def test_an_earlier_prompt_is_not_in_the_buffer_and_cannot_be_stood_for() -> None:
    part = a_portion(*TURNS[1:], earlier=TURNS[:1])
    (entry,) = made_of(part, Compacted("A", frozenset({1, 2})))
    assert entry.stands_for == (event_id(2),)


def test_as_many_entries_as_before_are_a_failure() -> None:
    with pytest.raises(LlmError, match="not both fewer and smaller"):
        made_of(PART, *[Compacted("a", frozenset({number})) for number in range(1, 5)])


def test_entries_as_large_as_before_are_a_failure() -> None:
    with pytest.raises(LlmError, match="not both fewer and smaller"):
        made_of(PART, Compacted("x" * PART.snapshot.size_bytes, frozenset({1})))


def test_nothing_private_comes_back_into_the_buffer() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    (entry,) = made_of(PART, Compacted(f"The token is {secret}", frozenset({1})))
    assert isinstance(entry.event.body, TextBody)
    assert secret not in entry.event.body.content


@pytest.mark.parametrize(("number_of_entries", "set_aside"), [(0, 0), (1, 0), (2, 1), (5, 2)])
def test_the_newest_half_goes_on_waiting_and_an_odd_one_with_it(number_of_entries: int, set_aside: int) -> None:
    snapshot = BufferSnapshot(waiting(*(prompt(number, "p") for number in range(number_of_entries))))
    assert oldest_half(snapshot).entries == snapshot.entries[:set_aside]
