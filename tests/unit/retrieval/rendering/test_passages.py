from __future__ import annotations

import attrs

from kiro_learn.retrieval.rendering.passages import MOST_PASSAGES, PASSAGE_CHARACTERS, passages_of
from kiro_learn.testing.daemon import a_record


def lines_of(summary: str, *facts: str) -> list[tuple[str, ...]]:
    record = attrs.evolve(a_record(1, "A title", summary), facts=facts)
    return [passage.lines for passage in passages_of(record)]


def test_short_lines_stand_together_and_facts_apart_from_the_summary() -> None:
    assert lines_of("One line.\nAnother.", "A fact.", "A second.") == [
        ("One line.", "Another."),
        ("A fact.", "A second."),
    ]


def test_what_was_asked_is_a_passage_of_its_own() -> None:
    record = a_record(1, "A title", "Asked: why is it slow?\nBecause of the lock.")
    asked, answer = passages_of(record)
    assert (asked.is_asked, asked.text) == (True, "Asked: why is it slow?")
    assert (answer.is_asked, answer.text) == (False, "Because of the lock.")


def test_a_heading_begins_a_passage() -> None:
    assert lines_of("The lock was stale.\nThe fix:\nRemove it at the start.") == [
        ("The lock was stale.",),
        ("The fix:", "Remove it at the start."),
    ]


def test_a_passage_is_no_longer_than_it_may_be_unless_one_line_is() -> None:
    passages = passages_of(a_record(1, "A title", "\n".join(["A line of forty characters, more or less."] * 40)))
    assert all(sum(map(len, passage.lines)) <= PASSAGE_CHARACTERS for passage in passages)


def test_a_very_long_line_is_cut_at_its_sentences() -> None:
    sentence = "This sentence says something of its own and ends."
    passages = passages_of(a_record(1, "A title", " ".join([sentence] * 30)))
    assert {line for passage in passages for line in passage.lines} == {sentence}


def test_there_is_an_end_to_them() -> None:
    record = attrs.evolve(a_record(1, "A title", "\n".join(["x" * 290] * 13)), facts=tuple(["y" * 400] * 50))
    assert len(passages_of(record)) == 63 <= MOST_PASSAGES


def test_blank_lines_are_none() -> None:
    assert lines_of("\n \n") == []
