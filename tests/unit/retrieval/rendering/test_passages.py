from __future__ import annotations

import attrs

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.retrieval.rendering.passages import LEAST_CHARACTERS, MOST_CHARACTERS, MOST_PASSAGES, passages_of
from kiro_learn.testing.daemon import a_record

SENTENCE = "This sentence has somewhat more characters than a passage needs, so it stands alone and ends here."


def lines_of(summary: str, *facts: str) -> list[tuple[str, ...]]:
    """Without the title's."""
    record = unchecked_evolve(a_record(1, "A title", "-"), summary=summary, facts=facts)
    return [passage.lines for passage in passages_of(record)][1:]


def test_the_title_is_the_first_passage() -> None:
    title, *_ = passages_of(a_record(1, "A title", "A line."))
    assert (title.is_title, title.text) == (True, "A title")


def test_short_lines_stand_together_and_facts_apart_from_the_summary() -> None:
    assert lines_of("One line.\nAnother.", "A fact.", "A second.") == [
        ("One line.", "Another."),
        ("A fact.", "A second."),
    ]


def test_a_line_is_cut_at_the_end_of_a_sentence_that_is_long_enough() -> None:
    assert len(SENTENCE) >= LEAST_CHARACTERS
    assert lines_of(f"{SENTENCE} Short. {SENTENCE} The end.") == [(SENTENCE,), (f"Short. {SENTENCE}",), ("The end.",)]


def test_an_abbreviation_inside_a_sentence_does_not_end_it() -> None:
    line = SENTENCE.removesuffix(".") + ", e.g. like this one, which goes on."
    assert lines_of(line) == [(line,)]


def test_what_was_asked_has_passages_of_its_own() -> None:
    record = a_record(1, "A title", f"Asked: why? {SENTENCE} So?\nBecause of the lock.")
    _, asked, more, answer = passages_of(record)
    assert (asked.is_asked, asked.text) == (True, f"Asked: why? {SENTENCE}")
    assert (more.is_asked, more.text) == (True, "So?")
    assert (answer.is_asked, answer.text) == (False, "Because of the lock.")


def test_a_heading_begins_a_passage() -> None:
    assert lines_of("The lock was stale.\nThe fix:\nRemove it at the start.") == [
        ("The lock was stale.",),
        ("The fix:", "Remove it at the start."),
    ]


def test_a_long_heading_stays_with_what_follows() -> None:
    heading = SENTENCE.removesuffix(".") + ":"
    assert lines_of(f"{heading}\nRemove it.") == [(heading, "Remove it.")]


def test_there_is_an_end_to_them() -> None:
    record = attrs.evolve(a_record(1, "A title", " ".join([SENTENCE] * 40)), facts=tuple([SENTENCE] * 50))
    assert len(passages_of(record)) == 91 < MOST_PASSAGES
    assert len(passages_of(attrs.evolve(record, facts=(f"{SENTENCE} {SENTENCE}",) * 50))) == MOST_PASSAGES


def test_blank_lines_are_none() -> None:
    assert lines_of("\n \n") == []


def test_a_sentence_of_a_script_without_spaces_ends_at_its_own_mark() -> None:
    sentence = "\u6728" * 40 + "\u3002"
    assert lines_of(sentence * 3) == [(sentence,)] * 3


def test_a_line_without_an_end_is_cut_between_words_and_nothing_of_it_is_lost() -> None:
    words = [f"word{number}" for number in range(500)]
    passages = lines_of(" ".join(words))
    assert all(len(line) <= MOST_CHARACTERS for passage in passages for line in passage)
    assert " ".join(line for passage in passages for line in passage).split() == words


def test_a_line_without_words_is_cut_anywhere() -> None:
    passages = lines_of("x" * 4_000)
    assert all(len(line) <= MOST_CHARACTERS for passage in passages for line in passage)
    assert sum(len(line) for passage in passages for line in passage) == 4_000
