from __future__ import annotations

import pytest

from kiro_learn.retrieval.rendering.passages import item, one_line, paragraph, shortened


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
