"""A title says what holds: without the talk around it, and with every sign that belongs to its words."""

from __future__ import annotations

import pytest

from tests.unit.learning.histories import answer, learned, prompt


def title_of_answer(asked: str, told: str) -> str:
    (draft,) = learned(prompt(1, asked), answer(2, told))
    return draft.title


@pytest.mark.parametrize(
    ("told", "title"),
    [
        (
            "Raw tables follow a rule:\n\n- Convention: tables are named `raw_<source>_<table>`",
            "Raw tables follow a rule: Convention: tables are named raw_<source>_<table>",
        ),
        (
            "The function returns a `Vec<Box<T>>`, because the caller owns each `Box<T>`",
            "The function returns a Vec<Box<T>>, because the caller owns each Box<T>",
        ),
        (
            "**The proxy always sends the header `X-Request-Id: <uuid>`**",
            "The proxy always sends the header X-Request-Id: <uuid>",
        ),
        (
            "The branches must be named feat/<ticket>-<word>",
            "The branches must be named feat/<ticket>-<word>",
        ),
        (
            "`#[serde(default)]` is only needed because the old files lack the field.",
            "#[serde(default)] is only needed because the old files lack the field.",
        ),
        (
            "The channel that is told of failures must be `#data-alerts_`",
            "The channel that is told of failures must be #data-alerts_",
        ),
    ],
)
def test_a_title_keeps_the_signs_of_its_code(told: str, title: str) -> None:
    assert title_of_answer("why is that so?", told) == title


@pytest.mark.parametrize(
    ("told", "title"),
    [
        (
            "> The import must run before the export, because both lock the table. >",
            "The import must run before the export, because both lock the table.",
        ),
        (
            "**The import must run before the export, because both lock the table.**",
            "The import must run before the export, because both lock the table.",
        ),
        (
            "## Summary: `import` must run before `export` because of the lock",
            "import must run before export because of the lock",
        ),
    ],
)
def test_marks_around_a_title_go(told: str, title: str) -> None:
    assert title_of_answer("why is that so?", told).casefold() == title.casefold()
