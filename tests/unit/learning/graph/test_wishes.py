from __future__ import annotations

import pytest

from kiro_learn.learning.graph.wishes import wishes_in

WISHED = """
Always run the linter before every commit.
Never commit to main.
please never edit generated files
We don't use mocks in integration tests.
From now on write the changelog in German.
From now on, commit messages are in English.
we use tabs, not spaces
you should always run the linter first
Our convention is snake_case for tables.
The API is public, so never change its field names.
Remember that staging is read-only.
Don\u2019t ever force-push to main
It's important to run the linter before a commit.
It is required that all tests pass on Windows
Always answer in German.
Always pass the config by name
Never touch `settings.toml`.
Always explain what a command does
We always squash before we merge
From now on you always ask before you delete anything
In future, if you edit a schema, also write a migration.
I prefer small pull requests
I prefer tabs over spaces.
We prefer composition over inheritance
Note: always run the linter
House rule: never commit to main
Always use pnpm
Never use emojis.
always use tabs in this repo
Don't ever commit
dont ever force-push
we dont use mocks
Always run the linter, never skip it.
Always check that the tests pass
""".strip().splitlines()


@pytest.mark.parametrize("sentence", WISHED)
def test_a_rule_for_the_work_is_a_wish(sentence: str) -> None:
    assert len(wishes_in(sentence)) == 1


SAYINGS = """
Never give up!
Always believe in yourself.
Always be kind to others
Never stop dreaming and always follow your heart
It's important to stay positive, even when life is hard.
It's important that everyone has a home.
It's important to make time for yourself
It is important to me that people have someone to talk to
Remember that rest is very important.
Remember to breathe!
It's important to change people's lives
Never push yourself too hard
""".strip().splitlines()

DESCRIPTIONS = """
Never had a chance to see it.
Never saw this coming in the tests
Never tried the linter before
Always stores its state in the `sessions` branch
You never know what a kind word can do
You never shy away from a challenge and always try something new.
You always write the best tests
You never commit to main, that's great
We always look forward to the summer
We never go out on school nights
From now on the test server is down
Going forward our nightly build will take an hour
""".strip().splitlines()

PLANS = """
From now on I will write the tests first
From now on I'm going to use Vim
In the future I want to build a bigger server
In the future we hope to support Windows
Going forward we'll have more tests
""".strip().splitlines()

QUOTED = """
They said: always run the linter
Write a rule that says: never push to main
Add a comment: never call this function twice
Review this text: Always run the linter before a commit.
""".strip().splitlines()

POINTED_AT = """
I prefer it that way
I prefer this one
I prefer that version
I prefer yours
I prefer the other one over this
I prefer when tests are fast
Never edit them.
Always run it before a commit
Never do that on production
Always use it
Never ever debug
Never use any
""".strip().splitlines()


@pytest.mark.parametrize("sentence", SAYINGS)
def test_what_people_cheer_each_other_with_is_no_wish(sentence: str) -> None:
    assert wishes_in(sentence) == []


@pytest.mark.parametrize("sentence", DESCRIPTIONS)
def test_what_somebody_did_or_does_is_no_wish(sentence: str) -> None:
    assert wishes_in(sentence) == []


@pytest.mark.parametrize("sentence", PLANS)
def test_what_somebody_will_do_is_no_wish(sentence: str) -> None:
    assert wishes_in(sentence) == []


@pytest.mark.parametrize("sentence", QUOTED)
def test_what_others_say_or_a_file_is_to_say_is_no_wish(sentence: str) -> None:
    assert wishes_in(sentence) == []


@pytest.mark.parametrize("sentence", POINTED_AT)
def test_a_wish_that_only_points_at_something_says_nothing(sentence: str) -> None:
    assert wishes_in(sentence) == []


def test_a_common_word_is_no_tool() -> None:
    (wish,) = wishes_in("Always make a commit before you go on.")
    assert wish.category == "workflow"


def test_a_tool_at_the_end_of_a_sentence_is_one() -> None:
    (wish,) = wishes_in("Always use pnpm.")
    assert wish.category == "tools"


def test_the_opposite_wish_is_of_the_same_thing() -> None:
    keys = {wish.key for text in ("Always use tabs.", "Never use tabs in this repo") for wish in wishes_in(text)}
    assert keys == {"tabs"}
