from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.chatter import (
    is_chatter,
    is_commit_request,
    is_failed_answer,
    is_nod,
    own_words,
    without_chatter,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Done.",
        "Great question!",
        "You\u2019re absolutely right.",
        "All 42 tests pass and lint is clean.",
        "\u2705 Build passes.",
        "Here's a summary of the changes:",
        "Let me check the configuration file first.",
        "Would you like me to open a pull request?",
        "Committed as 3f2a9bc and pushed to origin.",
        "PR created: https://github.com/dev/shop/pull/155",
        "Created PR #155 (https://github.com/dev/shop/pull/155).",
        "---",
    ],
)
def test_talk_is_chatter(sentence: str) -> None:
    assert is_chatter(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The pool is never closed.",
        "Tests fail because the clock is not mocked.",
        "Pushing to main is blocked by a branch rule.",
        "Let me note that `close()` must be awaited.",
        "Here's why: the lock is per process.",
        "The PR was closed: https://github.com/dev/shop/pull/155",
        "See https://github.com/dev/shop/issues/7",
    ],
)
def test_knowledge_is_not(sentence: str) -> None:
    assert not is_chatter(sentence)


def test_chatter_is_taken_out_of_a_text() -> None:
    assert without_chatter("Done! The port is 8080 now. All tests pass.") == "The port is 8080 now."


@pytest.mark.parametrize("prompt", ["yes", "ok, thanks!", "Continue", "sounds good, go on", "y", "???", "hello"])
def test_nods(prompt: str) -> None:
    assert is_nod(prompt)


@pytest.mark.parametrize("prompt", ["yes, but keep the flag", "option 2", "no, on purpose"])
def test_no_nods(prompt: str) -> None:
    assert not is_nod(prompt)


@pytest.mark.parametrize("prompt", ["commit this", "please commit and push", "ok, create a PR"])
def test_requests_to_commit(prompt: str) -> None:
    assert is_commit_request(prompt)


def test_a_request_about_commits_is_none() -> None:
    assert not is_commit_request("why does the commit hook fail?")


def test_an_agents_failure_is_no_answer() -> None:
    assert is_failed_answer('API Error: 500 {"type":"error"}')
    assert not is_failed_answer("The API error comes from the proxy.")


def test_own_words_tell_one_title_from_another() -> None:
    assert own_words("The fix is now complete: the pool closes in 3f2a9bc") == ["pool", "closes"]
