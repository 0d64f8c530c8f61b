"""Text is written in a form that the stream can show."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TextIO

import pytest

from kiro_learn.frontends.cli.terminal import Terminal, cut, plain, spread, terminal_of


class Screen(io.TextIOWrapper):
    def __init__(self, encoding: str = "utf-8", *, is_watched: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self._is_watched = is_watched

    def isatty(self) -> bool:
        return self._is_watched


def terminal(
    stream: TextIO | None = None, colour: str = "auto", environment: Mapping[str, str] | None = None
) -> Terminal:
    return terminal_of(stream or Screen(), environment or {}, colour=colour)


def test_a_terminal_has_colours() -> None:
    assert terminal().has_colours


@pytest.mark.parametrize("environment", [{"NO_COLOR": ""}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_turned_off(environment: dict[str, str]) -> None:
    assert not terminal(environment=environment).has_colours


def test_a_pipe_has_no_colours_and_the_usual_width() -> None:
    piped = terminal(Screen(is_watched=False))
    assert (piped.has_colours, piped.width) == (False, 80)


@pytest.mark.parametrize(
    ("columns", "width"), [("40", 40), ("1000", 100), ("0", 80), ("", 80), ("-3", 80), ("9" * 5000, 80), ("x", 80)]
)
def test_columns_is_the_width_of_a_terminal(columns: str, width: int) -> None:
    assert terminal(environment={"COLUMNS": columns}).width == width
    assert terminal(Screen(is_watched=False), environment={"COLUMNS": columns}).width == 80


def test_the_option_wins_over_everything() -> None:
    assert terminal(Screen(is_watched=False), "always").has_colours
    assert not terminal(Screen(), "never").has_colours


@pytest.mark.parametrize("environment", [{"LANG": "C"}, {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}])
def test_the_c_locale_is_ascii(environment: dict[str, str]) -> None:
    assert not terminal(environment=environment).has_unicode


def test_another_encoding_is_ascii() -> None:
    assert not terminal(Screen("latin-1")).has_unicode
    assert terminal(Screen("UTF-8")).has_unicode


def test_marks_keep_their_width_in_either_alphabet() -> None:
    for each in (Terminal(), Terminal(has_unicode=False)):
        assert len({len(each.mark(name)) for name in ("ok", "warning", "wrong", "none")}) == 1


def test_ascii_shows_every_character_somehow() -> None:
    assert Terminal(has_unicode=False).shown("\u2026K7Q \u00b7 \u2502 na\u00efve \u732b") == "...K7Q | | na?ve ?"


def test_stored_text_cannot_steer_the_terminal() -> None:
    shown = Terminal(has_colours=True).shown("a\x1b]0;title\x07b\x1b[2J\x9bc\r")
    assert not any(character in shown for character in "\x1b\x07\x9b\r")


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2028"])
def test_stored_text_neither_turns_a_line_around_nor_begins_one(sign: str) -> None:
    assert plain(f"a{sign}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_our_own_colours_pass_where_there_are_colours_only() -> None:
    painted = Terminal(has_colours=True).bold("x")
    assert Terminal(has_colours=True).shown(painted) == painted
    assert Terminal().shown(painted) == "x"


def test_surrogates_are_shown_somehow() -> None:
    assert Terminal().shown("a\ud800b") == "a?b"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("short", 5, "short"), ("longer text", 7, "longer\u2026"), ("two\nlines", 20, "two lines"), ("x", 0, "\u2026")],
)
def test_what_is_too_long_is_cut_to_one_line(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected


def test_two_texts_are_spread_over_the_width() -> None:
    assert spread("a", "b", 10) == "a        b"
    assert spread("aaaa", "bbbb", 6) == "aaaa  bbbb"
