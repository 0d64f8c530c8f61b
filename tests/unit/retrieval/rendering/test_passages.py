"""Passages of a memory and the facts shown with them; a count of tokens is too high rather than too low."""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.retrieval.rendering.passages import (
    LEAST_CHARACTERS,
    MOST_CHARACTERS,
    MOST_PASSAGES,
    choose_facts,
    count_tokens,
    item,
    item_bytes,
    one_line,
    paragraph,
    passages_of,
    shortened,
    words,
)
from kiro_learn.testing.daemon import a_record

SENTENCE = "This sentence has somewhat more characters than a passage needs, so it stands alone and ends here."


def lines_of(summary: str, *facts: str) -> list[tuple[str, ...]]:
    """The lines of each passage, without the title's passage."""
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


FACTS = (
    "the build runs on two machines",
    "the cache of the build is pruned weekly",
    "deploys need a ticket",
)


def test_all_facts_are_kept_where_there_is_room() -> None:
    assert choose_facts(FACTS, ("ticket",), budget_bytes=1_000) == FACTS


def test_facts_that_share_the_rarest_word_come_first() -> None:
    assert choose_facts(FACTS, ("build", "cache"), budget_bytes=item_bytes(FACTS[1])) == (FACTS[1],)


def test_kept_facts_are_shown_in_the_learners_order() -> None:
    budget = item_bytes(FACTS[0]) + item_bytes(FACTS[2])
    assert choose_facts(FACTS, ("ticket",), budget_bytes=budget) == (FACTS[0], FACTS[2])


def test_without_a_shared_word_the_earlier_fact_wins() -> None:
    assert choose_facts(FACTS, ("unrelated",), budget_bytes=item_bytes(FACTS[0])) == (FACTS[0],)


def test_a_fact_that_does_not_fit_makes_room_for_a_smaller_one() -> None:
    assert choose_facts(FACTS, ("cache",), budget_bytes=item_bytes(FACTS[2])) == (FACTS[2],)


def test_identifiers_count_whole_and_in_their_parts() -> None:
    assert words("parseHTTPHeader in user_name.go") == {
        *("parsehttpheader", "parse", "http", "header"),
        *("in", "user_name", "user", "name", "go"),
    }
    fact = "EnsureEntireGitignore lists the files"
    assert choose_facts((*FACTS, fact), ("gitignore",), budget_bytes=item_bytes(fact)) == (fact,)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("# Title", "\\# Title"),
        ("  ## Prior observations from kiro-learn", "\\## Prior observations from kiro-learn"),
        ("> quoted", "\\> quoted"),
        ("```go", "\\```go"),
        ("~~~", "\\~~~"),
        ("---", "\\---"),
        ("* * *", "\\* * *"),
        ("=", "\\="),
        ("- first", "• first"),
        ("\t* second", "• second"),
        ("+", "•"),
        ("- # hidden heading", "• # hidden heading"),
        ("1. one", "(1) one"),
        ("23) > two", "(23) > two"),
        ("</system-reminder>", "&lt;/system-reminder>"),
        ("text <!-- comment", "text &lt;!-- comment"),
        ("<|im_start|>", "&lt;|im_start|>"),
    ],
)
def test_structure_at_the_start_of_a_line_and_tags_anywhere_are_neutralised(stored: str, shown: str) -> None:
    assert item(stored) == shown


@pytest.mark.parametrize(
    "text",
    ["**bold** words", "-x is a flag", "1.5 seconds", "a < b", "see #12", "--force", "`code`", "naïve 日本 👩‍💻"],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert item(text) == text


def test_invisible_characters_go_and_every_kind_of_space_becomes_one_space() -> None:
    assert one_line("a\x00\x1b[31mb\u202ec\u00a0\u2028 d\r\n\te") == "a[31mbc d e"


def test_every_separator_that_may_end_a_line_does() -> None:
    assert paragraph("a\r\n# b\u2028# c\x0c# d\n\n\n- e\n") == "a\n\\# b\n\\# c\n\\# d\n• e"


def test_shortening_keeps_whole_words_and_characters_within_the_bytes() -> None:
    assert shortened("größer ist besser", 13) == "größer…"
    assert shortened("ééééé", 8) == "éé…"
    assert shortened("fits", 4) == "fits"


def test_a_text_without_blanks_is_cut_inside_of_it() -> None:
    assert shortened("読む Users " + "読" * 20, 60) == f"読む Users {'読' * 14}…"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t", 0),
        ("the token", 3),
        ("getUserToken", 4),
        ("HTTPRequest", 4),
        ("f(x)[0];", 8),
        ("2026-01-05", 10),
        ("漢字", 2),
        ("\N{GRINNING FACE}", 1),
    ],
)
def test_words_signs_and_digits_are_counted(text: str, count: int) -> None:
    assert count_tokens(text) == count
