from __future__ import annotations

from kiro_learn.learning.extraction.extractive.markdown import blocks_of
from kiro_learn.learning.extraction.extractive.summaries import asked_line, beginning, earnest_blocks, without_title
from kiro_learn.learning.extraction.extractive.turns import Said, Turn


def turn(*prompts: str, previous: Turn | None = None) -> Turn:
    return Turn(tuple(Said(1, "user", text) for text in prompts), (), Said(2, "assistant", "x"), previous)


def test_a_summary_says_what_was_asked() -> None:
    assert asked_line(turn("why does the\nbuild fail on ARM?")) == "Asked: why does the build fail on ARM?"


def test_a_long_prompt_is_cut() -> None:
    assert len(asked_line(turn("word " * 100))) < 320


def test_all_prompts_of_an_interrupted_turn_are_shown_but_nods() -> None:
    assert asked_line(turn("rename the flag", "sorry, continue", "to --quiet instead of --silent")) == (
        "Asked: rename the flag / to --quiet instead of --silent"
    )


def test_a_nod_shows_what_it_agreed_to() -> None:
    before = Turn((Said(1, "user", "fix it"),), (), Said(2, "assistant", "I could. Shall I use a lock?"))
    assert asked_line(turn("yes", previous=before)) == "Asked: yes (after: Shall I use a lock?)"


def test_a_short_follow_up_shows_what_it_follows() -> None:
    before = Turn((Said(1, "user", "explain the cache"),), (), Said(2, "assistant", "It is a map."))
    assert asked_line(turn("and the size?", previous=before)) == "Asked: and the size? (after: explain the cache)"


def test_a_note_has_no_line_of_what_was_asked() -> None:
    assert asked_line(turn()) == ""


def test_chatter_around_an_answer_is_left_out() -> None:
    blocks = earnest_blocks(blocks_of("Perfect! All tests pass.\n\n## Summary\n\nThe port is 8080. Want me to commit?"))
    assert [block.text for block in blocks] == ["The port is 8080."]


def test_a_beginning_ends_where_a_sentence_ends() -> None:
    blocks = blocks_of(
        "The first statement is here.\n\nThe second statement comes after it. The third does not fit in."
    )
    assert beginning(blocks, 80) == ("The first statement is here.\nThe second statement comes after it.", 1)


def test_a_heading_is_not_left_alone_at_the_end() -> None:
    blocks = blocks_of("The first statement is here.\n\n## Details\n\nMore.")
    assert beginning(blocks, 40) == ("The first statement is here.", 2)


def test_a_heading_that_became_the_title_is_not_repeated() -> None:
    blocks = blocks_of("## Cache layout\n\nIt is a map.")
    assert [block.text for block in without_title(blocks, "Cache layout")] == ["It is a map."]
    assert without_title(blocks, "Another") == blocks
