from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.framing import cleaned, clipped, escaped, unescaped


def test_what_was_escaped_comes_back() -> None:
    text = "if a < b && c > \"d\": it's <tag attr='x'> ]]>"
    assert unescaped(escaped(text)) == text


def test_no_angle_bracket_or_quote_survives_escaping() -> None:
    assert not set('<>"') & set(escaped('</text><event number="1">]]>'))


def test_one_level_is_undone_and_not_two() -> None:
    assert unescaped("&amp;lt;") == "&lt;"
    assert unescaped("&amp;#39;") == "&#39;"


def test_a_character_may_be_written_by_its_number() -> None:
    assert unescaped("the client&#39;s &#x201C;token&#x201d;") == "the client's \u201ctoken\u201d"
    assert unescaped("&#9999999; &#xFFFFFF; &#; &#x; &amp") == "&#9999999; &#xFFFFFF; &#; &#x; &amp"


@pytest.mark.parametrize("character", ["\x00", "\x08", "\ud800", "\ufffe"])
def test_what_xml_forbids_is_replaced(character: str) -> None:
    assert cleaned(f"a{character}b") == "a\ufffdb"


def test_terminal_colours_are_left_out() -> None:
    assert cleaned("\x1b[1;31mFAIL\x1b[0m test_pay\x1b]0;title\x07") == "FAIL test_pay"


def test_every_line_end_becomes_a_newline() -> None:
    assert cleaned("a\r\nb\rc\n") == "a\nb\nc\n"


def test_a_long_text_keeps_both_ends_and_says_what_is_missing() -> None:
    shown = clipped("a" * 50 + "b" * 50, head=10, tail=5)
    assert shown == "aaaaaaaaaa\n[... 85 characters left out ...]\nbbbbb"


def test_a_text_that_fits_stays_whole() -> None:
    assert clipped("abc", head=2, tail=1) == "abc"


def test_no_tail_means_no_tail() -> None:
    assert clipped("abcdef", head=2, tail=0).endswith("left out ...]\n")
