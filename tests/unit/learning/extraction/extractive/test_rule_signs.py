"""A sentence is weighed by the signs of a rule, for and against."""

import pytest

from kiro_learn.learning.extraction.extractive import rule_signs


def test_each_sign_has_one_weight() -> None:
    assert sorted(rule_signs.all_signs()) == sorted(rule_signs.WEIGHTS)


@pytest.mark.parametrize(
    ("plain", "with_a_sign_against"),
    [
        ("Before you write code, show me the plan.", "Before you write code today, show me the plan."),
        ("In this project every module has an owner.", "In this project every module has an owner, I guess."),
        ("In diesem Projekt alle Kommentare auf Englisch.", "In diesem Projekt heute alle Kommentare auf Englisch."),
    ],
)
def test_what_speaks_of_the_moment_or_doubts_weighs_less(plain: str, with_a_sign_against: str) -> None:
    assert rule_signs.lay_down(plain)
    assert rule_signs.score(with_a_sign_against) < rule_signs.score(plain)


def test_beside_work_more_is_needed() -> None:
    sentence = "In this project every module has an owner."

    assert rule_signs.lay_down(sentence)
    assert not rule_signs.lay_down(sentence, is_beside_work=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "Tests are failing since the last merge.",
        "Why do we keep all tests in this repo next to the source?",
        "Can you translate 'keep every test small' for me?",
        "Use port 8099 today.",
    ],
)
def test_reports_questions_and_orders_of_the_moment_are_none(sentence: str) -> None:
    assert not rule_signs.lay_down(sentence)
