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


@pytest.mark.parametrize(
    "answer",
    [
        "Rate limit: 120 requests a minute for each API key.",
        "Rate limiting is done by the gateway.",
        "API errors are retried five times, then shown in the banner.",
        "API error handling lives in `client/errors.py`.",
        "Invalid API key is what the sandbox answers to live keys.",
        "Request timed out because the pool had one connection.",
        "Internal server error 500 came from a missing migration.",
        "Usage limit reached is shown as a toast now, not as a page.",
        "Execution errors of jobs go to the dead letter queue.",
        "Prompt is too long is raised above 8,000 tokens, so I cut it.",
    ],
)
def test_an_answer_about_failures_is_one(answer: str) -> None:
    assert not is_failed_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        "API Error: Connection error.",
        "API Error (Connection error.) \u00b7 Retrying in 5 seconds\u2026",
        "API Error: Request was aborted.",
        "Rate limit reached. Try again later.",
        "rate limit exceeded",
        "Request timed out.",
        "Request timed out",
        "Internal server error",
        "Invalid API key \u00b7 Please run /login",
        "Prompt is too long",
        "Credit balance is too low",
        "Claude AI usage limit reached|1760000000",
        "You've hit your limit \u00b7 resets 3am (Europe/Vienna)",
        "5-hour limit reached \u2219 resets 2pm",
        "Execution error",
        "No response requested.",
        "(no content)",
    ],
)
def test_failures_of_agents(answer: str) -> None:
    assert is_failed_answer(answer)


def test_own_words_tell_one_title_from_another() -> None:
    assert own_words("The fix is now complete: the pool closes in 3f2a9bc") == ["pool", "closes"]
