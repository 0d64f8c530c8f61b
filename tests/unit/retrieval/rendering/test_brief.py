"""The brief: rules first, one line for each memory, never too long, and no stored text can imitate its form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.retrieval.rendering.brief import BriefPart, render_brief
from kiro_learn.retrieval.rendering.report import HEADING
from tests.unit.storage.builders import record


def a_memory(number: int, title: str, summary: str = "") -> MemoryRecord:
    return unchecked_evolve(record(number), title=title, summary=summary or title)


def test_a_brief_has_a_line_for_each_memory_under_its_heading() -> None:
    rules = BriefPart("Rules", [a_memory(1, "Never drop a column.")])
    known = BriefPart("Known here", [a_memory(2, "Run the tests with tox", "pytest alone lacks the fixtures of CI")])
    brief = render_brief([rules, known], most_bytes=2_500)
    day = f"{record(1).created_at:%Y-%m-%d}"
    assert brief.text == (
        f"{HEADING}\n### Rules\n\n- Never drop a column ({day})\n\n### Known here\n\n"
        f"- Run the tests with tox: pytest alone lacks the fixtures of CI ({day})\n"
    )
    assert brief.record_ids == (record(1).record_id, record(2).record_id)


def test_rules_go_before_all_else_where_there_is_little_room() -> None:
    rules = BriefPart("Rules", [a_memory(number, f"Never touch table {number}") for number in range(1, 4)])
    notes = BriefPart("Last worked on", [a_memory(9, "A note")])
    brief = render_brief([rules, notes], most_bytes=180)
    assert "Last worked on" not in brief.text
    assert brief.text.count("Never touch table") == 3


def test_a_memory_that_is_too_long_leaves_room_for_a_shorter_one() -> None:
    part = BriefPart("Known here", [a_memory(1, "a" * 150), a_memory(2, "Use pnpm")])
    brief = render_brief([part], most_bytes=100)
    assert brief.record_ids == (record(2).record_id,)


def test_each_part_has_its_share_and_what_one_leaves_goes_to_the_others_in_their_order() -> None:
    rules = BriefPart("Rules", [a_memory(number, f"Never touch table {number:02}") for number in range(1, 20)], 0.5)
    notes = BriefPart("Last worked on", [a_memory(30, "One note")], 0.5)
    brief = render_brief([rules, notes], most_bytes=600)
    assert "One note" in brief.text
    rule_bytes = 600 - len(HEADING) - len("\n### Last worked on\n\n- One note (2026-01-05)\n") - len("\n### Rules\n\n")
    assert brief.text.count("Never touch") == rule_bytes // len("- Never touch table 01 (2026-01-05)\n")


def test_two_memories_that_say_the_same_on_one_day_have_one_line() -> None:
    part = BriefPart("Known here", [a_memory(1, "Use pnpm"), a_memory(2, "Use pnpm")])
    assert render_brief([part], most_bytes=999).text.count("pnpm") == 1


def test_what_is_left_out_of_a_memory_is_not_counted_as_told() -> None:
    with_fact = unchecked_evolve(a_memory(3, "The port"), facts=("It is 9090.",))
    known = BriefPart("Known here", [a_memory(1, "Use pnpm"), a_memory(2, "Use the pool", "word " * 90), with_fact])
    brief = render_brief([known], most_bytes=2_500)
    assert [record_id in brief.whole_ids for record_id in brief.record_ids] == [True, False, False]


@pytest.mark.parametrize(
    ("title", "summary", "line"),
    [
        ("The pool", "Asked: how large is it?\nIt holds twenty", "The pool: It holds twenty"),
        ("The pool holds", "The pool holds fifty", "The pool holds fifty"),
        ("`rtk test` fails: run `test`", "`rtk test` fails here. Run `test`", "`rtk test` fails: run `test`"),
    ],
)
def test_a_line_says_nothing_twice(title: str, summary: str, line: str) -> None:
    part = BriefPart("Known here", [a_memory(1, title, summary)])
    assert f"- {line} (" in render_brief([part], most_bytes=999).text


def test_a_summary_that_is_left_out_with_something_new_is_not_counted_as_told() -> None:
    title = "Use the API gateway on port 9090 for staging"
    part = BriefPart("Known here", [a_memory(1, title, f"For staging {title.lower()}, in production 8080")])
    brief = render_brief([part], most_bytes=999)
    assert "8080" not in brief.text
    assert brief.whole_ids == ()


def test_under_a_rule_stands_nothing_of_what_was_done_once() -> None:
    turn = a_memory(1, "Never push to main", "Asked: please never push to main\nDone: I moved the commit to a branch.")
    rule = unchecked_evolve(turn, knowledge_type=KnowledgeType.CONSTRAINT)
    brief = render_brief([BriefPart("Rules", [rule])], most_bytes=999)
    assert "- Never push to main (" in brief.text
    assert brief.whole_ids == (), "what was done may be told to a prompt that asks for it"


def test_a_rule_whose_title_is_cut_is_told_whole() -> None:
    rule = "the tests of dbt should be in the yml beside and not as singular tests, it is easier to find them there"
    asked = f"Asked: ok, and {rule}. Hey, do it now. (after: move the tests)\nDone."
    turn = a_memory(1, "The tests of dbt should be in the yml beside and not...", asked)
    brief = render_brief(
        [BriefPart("Rules", [unchecked_evolve(turn, knowledge_type=KnowledgeType.CONSTRAINT)])], most_bytes=999
    )
    assert f"- {rule} (2026" in brief.text


def test_a_memory_of_two_parts_is_told_once_although_they_cut_it_differently() -> None:
    long = a_memory(1, "The pool", "word " * 200)
    parts = [BriefPart("Pinned", [long], line_bytes=400), BriefPart("Last worked on", [long, a_memory(2, "The port")])]
    brief = render_brief(parts, most_bytes=2_500)
    assert brief.text.count("The pool") == 1
    assert brief.record_ids == (long.record_id, a_memory(2, "The port").record_id)


def test_a_part_that_takes_no_rest_keeps_to_its_share() -> None:
    notes = BriefPart("Last", [a_memory(number, f"Note {number:02}") for number in range(1, 20)], 0.3, takes_rest=False)
    text = render_brief([notes], most_bytes=1_000).text
    assert 200 < len(text.removeprefix(HEADING).encode()) <= 300


def test_nothing_known_is_nothing_told() -> None:
    assert render_brief([BriefPart("Rules", [])], most_bytes=2_500).text == ""


@given(title=st.text(min_size=1, max_size=200), summary=st.text(min_size=1, max_size=500))
def test_no_stored_text_leaves_its_line(title: str, summary: str) -> None:
    part = BriefPart("Known here", [unchecked_evolve(record(1), title=title, summary=summary)])
    text = render_brief([part], most_bytes=2_500).text
    head, _, line = text.partition("### Known here\n\n")
    assert head == f"{HEADING}\n"
    assert line.startswith("- ")
    assert len(line.splitlines()) == 1


@given(st.lists(st.text(min_size=1, max_size=200), max_size=12), st.integers(0, 900))
def test_a_brief_is_never_longer_than_asked_for(titles: list[str], most_bytes: int) -> None:
    part = BriefPart("Known here", [a_memory(number, title) for number, title in enumerate(titles, 1)])
    assert len(render_brief([part], most_bytes=most_bytes).text.encode()) <= most_bytes
