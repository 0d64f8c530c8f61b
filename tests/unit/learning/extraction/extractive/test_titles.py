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


@pytest.mark.parametrize(
    ("asked", "told", "title"),
    [
        (
            "why is the window 3 days?",
            "You didn't \u2014 I chose it because the phones send up to 72 hours later.",
            "Why is the window 3 days? I chose it because the phones send up to 72 hours later.",
        ),
        (
            "why can nobody see the error of the backtest?",
            "Sorry about that! `backtest.py` logs the error as a metric now, since nobody reads the file.",
            "backtest.py logs the error as a metric now, since nobody reads the file.",
        ),
        (
            "the warehouse has old tablets",
            "Understood: the deployment target stays at iOS 16, because those tablets cannot run 17.",
            "The deployment target stays at iOS 16, because those tablets cannot run 17.",
        ),
        (
            "why is the limit 500?",
            "That was me: the API of Stripe allows only 500 rows in a page.",
            "The API of Stripe allows only 500 rows in a page.",
        ),
        (
            "why is it read twice?",
            "My mistake \u2014 the reader closes the stream after the header, because it is a context manager.",
            "The reader closes the stream after the header, because it is a context manager.",
        ),
    ],
)
def test_the_talk_before_the_content_goes(asked: str, told: str, title: str) -> None:
    assert title_of_answer(asked, told) == title


@pytest.mark.parametrize(
    "told",
    [
        "Sorry pages are rendered by errors.py, because nginx passes 500s through.",
        "Understood is the label of the button, because the customer wanted it.",
        "You didn't set the limit; the migration 0042 did, because Stripe allows only 500 rows.",
        "Apologies are sent by mailer.py, because the law wants them in writing.",
    ],
)
def test_a_sentence_that_begins_with_such_a_word_stays_whole(told: str) -> None:
    assert title_of_answer("why is that so?", told) == told


LONG = "for all docs of the data team please write them in german and formally"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "please use tabs in the sql, no sorry, I mean spaces, four",
            "Use tabs in the sql, no sorry, I mean spaces, four",
        ),
        (
            f"{LONG}, ah no sorry, in english, since our colleague is from Spain",
            "In english, since our colleague is from Spain (and not: For all docs of the data team please write",
        ),
        (
            "Always put migrations into db/. No wait, I mean into migrations/.",
            "Always put migrations into db/. No wait, I mean into migrations/.",
        ),
        (
            "Always sign commits with gpg. oh wait, sorry, with ssh keys",
            "Always sign commits with gpg. oh wait, sorry, with ssh keys",
        ),
    ],
)
def test_what_is_taken_back_in_the_same_prompt_does_not_stand_alone(said: str, title: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, "Got it."))
    assert draft.title.startswith(title)


def test_what_is_taken_back_of_an_earlier_prompt_leaves_no_empty_bracket() -> None:
    said = f"No sorry, I mean never hard-code a version, always use the alias, {'so that no dag must change ' * 3}again"
    assert "and not" not in learned(prompt(1, said), answer(2, "Got it."))[0].title


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Never use the prod key. Sorry, I forgot that earlier.", "Never use the prod key."),
        ("Never push to main. Wait for my review first.", "Never push to main."),
        ("Always use pnpm here, never npm. Sorry for the noise", "Always use pnpm here, never npm."),
    ],
)
def test_an_apology_takes_nothing_back(said: str, kept: str) -> None:
    assert learned(prompt(1, said), answer(2, "Got it."))[0].title == kept
