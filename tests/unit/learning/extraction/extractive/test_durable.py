from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durable import choice_in, corrections_in, rules_in


@pytest.mark.parametrize(
    "prompt",
    [
        "always use pnpm here, never npm",
        "Never commit to main.",
        "please never edit generated files",
        "We don't use mocks in integration tests.",
        "From now on write the changelog in German.",
        "we use tabs, not spaces",
        "I prefer small pull requests",
        "you should always run the linter first",
        "Our convention is snake_case for tables.",
        "The API is public, so never change its field names.",
        "Remember that staging is read-only.",
        "Use the repository pattern here, we don't use active record.",
        "Don\u2019t ever force-push",
        "The agent should NEVER print (e.g. cat) any environment files!!",
        "NEVER merge on a red build",
        "dont forget to branch off main and not the current branch.",
        "Also, I basically never want this env file to change.",
        "the full schema should not be updated ever, it is a snapshot",
        "write me a cursor rule that prevents the agent from running several commands in one line",
    ],
)
def test_a_rule_is_recognised(prompt: str) -> None:
    assert len(rules_in(prompt)) == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "why does it always fail?",
        "never mind",
        "the tests never pass on CI",
        "do we always use pnpm here?",
        "it always shows the old value",
        "THIS NEVER WORKS ON CI",
        "can you add a rule for the linter?",
        "the job NEVER ends, why?",
        "I prefer option 2",
        "fix the login page",
        "should we never cache this",
        "use pnpm",
    ],
)
def test_what_is_said_of_the_moment_is_no_rule(prompt: str) -> None:
    assert rules_in(prompt) == []


def test_a_rule_is_found_among_other_sentences() -> None:
    assert rules_in("Fix the login page. Always use pnpm here.") == ["Always use pnpm here."]


def test_a_paste_lays_down_nothing() -> None:
    assert rules_in("Never commit to main.\n" + "log line\n" * 300) == []
    assert choice_in("Option B\n" + "log line\n" * 300) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "let's go with SQLite",
        "Option B",
        "2",
        "1 and 3",
        "ok, do 2 please",
        "no, we removed that on purpose",
        "I like the second",
    ],
)
def test_a_choice_is_recognised(prompt: str) -> None:
    assert choice_in(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    ["yes", "what do you think?", "should we go with SQLite?", "I'd like to see the logs", "1. Rename it\n2. Test it"],
)
def test_what_decides_nothing_is_no_choice(prompt: str) -> None:
    assert choice_in(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "no, don't commit without running the tests",
        "stop editing src/gen/ by hand, it is generated",
        "do not create any new unit tests.",
        "I told you to use pnpm, not npm",
        "you forgot to run the tests before committing",
        "dont push to main, open a pull request",
        "not npm, use bun",
    ],
)
def test_a_correction_that_names_an_act_is_recognised(prompt: str) -> None:
    assert corrections_in(prompt) == [prompt]


@pytest.mark.parametrize(
    "prompt",
    [
        "no, don't commit this yet",
        "don't push now",
        "don't worry about the tests",
        "no, ignore this part",
        "do you push to main?",
        "stop for a second",
        "no code.",
        "don't switch models. " + "x" * 1_500,
    ],
)
def test_what_corrects_the_moment_or_names_no_act_is_no_rule(prompt: str) -> None:
    assert corrections_in(prompt) == []


def test_what_was_said_before_is_a_rule_even_where_it_speaks_of_this() -> None:
    assert corrections_in("I told you again not to commit this to main") != []


def test_a_rule_is_found_behind_a_full_stop_and_a_small_letter() -> None:
    assert rules_in("add it to the list. dont forget to branch off main") == ["dont forget to branch off main"]


def test_a_rule_in_the_middle_of_a_sentence_may_forbid_more_than_a_few_verbs() -> None:
    said = "customers read from right to left, so never hardcode margin-left"
    assert rules_in(said) == [said]
