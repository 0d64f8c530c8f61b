"""A sentence is a rule, a choice or neither by the weights of its words and signs."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.sentence_classes import BIAS, Odds, odds_of, signs_of, words_of


@pytest.mark.parametrize(
    "sentence",
    [
        "No, not pip install! We use uv.",
        "we deploy only on tuesdays and thursdays",
        "errors go through eyre, never anyhow, color-eyre gives us readable reports",
        "Bitte nie direkt auf main pushen",
    ],
)
def test_a_rule_is_one(sentence: str) -> None:
    assert odds_of(sentence).is_rule


@pytest.mark.parametrize(
    "sentence",
    [
        "We're moving from Celery to Dramatiq: Celery's memory leaks killed the worker twice.",
        "We changed the label: it is churned_60d now, the 30 day one was too noisy.",
        "ok, then we drop the transformer, too expensive for nothing",
    ],
)
def test_a_choice_is_one(sentence: str) -> None:
    assert odds_of(sentence).is_choice


@pytest.mark.parametrize(
    "sentence",
    [
        "Tests are failing since the last merge.",
        "Can you translate 'keep every test small' for me?",
        "the output must be sorted by path, users diff it",
        "mach weiter",
        "",
    ],
)
def test_reports_questions_and_what_a_task_wants_are_neither(sentence: str) -> None:
    odds = odds_of(sentence)
    assert not odds.is_rule
    assert not odds.is_choice


def test_no_sentence_is_both() -> None:
    odds = Odds(rule=5.0, choice=5.0)
    assert odds.is_rule != odds.is_choice


def test_words_pairs_ends_and_length_are_looked_up() -> None:
    assert words_of("Use uv 2.") == {
        *("use", "uv", "#", "use uv", "uv #"),
        *("^ use", "^ use uv", "^ use uv #", "# $", "uv # $", "length 0"),
    }


def test_a_script_without_spaces_is_read_by_characters() -> None:
    assert {"\u5fc5", "\u305a", "\u5fc5 \u305a"} <= words_of("\u5fc5\u305a")


def test_what_speaks_of_the_moment_has_its_sign() -> None:
    assert "moment" in signs_of("Use port 8099 today.")
    assert "moment" not in signs_of("Use port 8099.")
    assert BIAS not in words_of("bias")
