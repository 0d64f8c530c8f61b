"""A sentence on how things stand now differs from one that still holds next month; small talk asks nothing."""

from __future__ import annotations

import pytest

# ruff: noqa: RUF001  # prompts in other scripts, whose letters resemble Latin ones
from kiro_learn.learning.extraction.extractive.chatter import (
    asks_nothing,
    is_chatter,
    is_commit_request,
    is_failed_answer,
    is_nod,
    is_of_the_moment,
    own_words,
    without_chatter,
)
from tests.unit.learning.histories import answer, learned, prompt, tool


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
        "I don't have a record of that.",
        "I don't have any previous memories about feature flags.",
        "Also available: `/gsd:plan-phase 12.3` \u2014 skip discussion, plan directly",
        "Next up: `/gsd:execute-phase 12`",
        "`/clear` first \u2192 fresh context window",
        "`/gsd:execute-phase 12.3`",
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
        "`/deploy:staging` deploys the branch to staging.",
        "`/deploy:staging` \u2014 deploys the branch that is checked out",
        "Next to `/health` there is `/ready`",
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


@pytest.mark.parametrize(
    "text",
    [
        "On `main`, up to date. What's next?",
        "You're now on feat/phase-12, branched from latest `main`.",
        "The planner is still working and should be wrapping up soon.",
        "All services are running and the tunnel is configured.",
        "App is up and waiting for login. Please log in again, and I'll check the debug output.",
        "Conflicts resolved and pushed. PR #177 should be clean now.",
        "Committed as `156c7fcc0` on `feat/sharing`.",
        "12 commits are there.",
        "Next up per STATE.md: user-to-user sharing.",
        "(That was just the background task completing \u2014 the app itself is still running.)",
        "That's the earlier test run notification \u2014 already handled.",
        "Your new OTP is 469320.",
        "145307 for test@example.com",
        "App is running. Log in and let me know when you're done.",
        "Try uploading now \u2014 I'm watching the logs.",
        "Reply with a number to view details, or q to exit.",
    ],
)
def test_how_things_stand(text: str) -> None:
    assert is_of_the_moment([text])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--- ...",
        "Auto-summarize is enabled: the tool writes a summary of each session at its commit.",
        "The change is done \u2014 added `--trust` to the arguments at `cursor-provider.ts:73`.",
        "On `main`, up to date. The pool holds twenty connections.",
        "The port is 9090.",
        "The fix is to close the pool before the loop ends.",
        "Please note that the pool must be closed.",
        "It is working because the verifier now trusts the tunnel's URL, which changes at every start.",
        "Never push to main.",
        "That is the server that signs the tokens.",
        "The PIN is kept in the keychain.",
        "Check the signature before the expiry.",
        "Refresh tokens live for a week.",
    ],
)
def test_what_holds(text: str) -> None:
    assert not is_of_the_moment([text])


STANDS = "On `main`, up to date with the remote, and everything is merged. What's next?"


def test_a_turn_that_only_tells_how_things_stand_makes_no_memory() -> None:
    assert learned(prompt(1, "ok lets get back to main"), answer(2, STANDS)) == []


def test_a_turn_that_changed_a_file_makes_one_where_somebody_says_why() -> None:
    edited = tool(2, "Edit", {"file_path": "src/pool.ts"}, {"success": True})
    assert learned(prompt(1, "raise the pool to twenty"), edited, answer(3, STANDS)) == []
    why = "raise the pool to twenty, because the importer opens ten on its own"
    (draft,) = learned(prompt(1, why), edited, answer(3, STANDS))
    assert draft.files_modified == ("src/pool.ts",)


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "hello",
            "thanks",
            "commit",
            "continue",
            "yes please",
            "ok, go on",
            "lgtm",
            "do it",
            "y",
            "👍",
            "🎉🎉",
            "...",
        ),
        *("ok thx", "ty!", "tysm", "k", "kk", "+1", "haha nice", "ship it", "good morning", "hi there", "bye", "oops"),
        *("go ahead pls", "please continue with the plan", "next", "next step", "go to the next step", "move on"),
        *("continue from where you left off", "yes, go ahead and implement it", "fix it", "retry", "try again", "stop"),
        *("option 2", "ok do the first one", "yes, all of them", "both", "step 3 please", "1", "a", "b)"),
        *("ok?", "ready?", "really?", "commit and push", "can you commit this?", "please open a pull request"),
        *(
            "create a pull request",
            "merge it",
            "squash and merge",
            "nice work",
            "thanks a lot!",
            "thank you for your help!",
        ),
        *("ja bitte", "danke schön!", "mach weiter", "nein danke", "ok weiter", "passt, weiter so", "Guten Morgen"),
        *("merci beaucoup", "oui, continue", "d'accord", "sí, gracias", "vale, adelante", "grazie mille", "obrigado"),
        *(
            "好的",
            "好的，谢谢！",
            "继续",
            "请继续",
            "はい",
            "はい、お願いします",
            "続けてください",
            "ありがとうございます。",
            "네 감사합니다",
        ),
        *(
            "да",
            "спасибо, продолжай",
            "نعم، شكرا",
            "כן תודה",
            "dzięki",
            "tak, proszę",
            "evet teşekkürler",
            "ok bedankt",
        ),
    ],
)
def test_small_talk_asks_nothing(prompt: str) -> None:
    assert asks_nothing(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "port?",
            "which db?",
            "db?",
            "why?",
            "why",
            "timeout",
            "auth",
            "license?",
            "plan",
            "tasks",
            "what's the plan?",
        ),
        *("next.js", "next?", "what is next?", "which option?", "green?", "is the catch clean?", "8080?", "404?"),
        *(
            "commit message format?",
            "force push?",
            "is it squash merge?",
            "who merged it?",
            "which branch do we push to",
        ),
        *("is the idea still good?", "run the tests", "fix the login", "implement the parser", "stop the worker"),
        *("continue with the auth refactoring", "next: rate limits", "yes, but keep the flag", "no, use pnpm"),
        *(
            "welche Datenbank?",
            "warum nicht",
            "Port?",
            "ja, aber ohne Redis",
            "端口是什么？",
            "为什么",
            "なぜですか",
            "порт?",
        ),
    ],
)
def test_a_short_question_asks_something(prompt: str) -> None:
    assert not asks_nothing(prompt)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("is process 8812 alive?", "Yes, process 8812 is alive and uses 3 % CPU."),
        ("is port 5173 free?", "No, 5173 is taken by vite."),
        ("did the deploy finish?", "Yes, revision 91 has been live since 11:02."),
        ("does the health check answer?", "Yes: /healthz gives 200 in 12 ms."),
        ("how many rows are left?", "There are 38,200 rows left of 90,000."),
        ("how many lines did you change?", "212 lines in 7 files."),
        ("how much disk is free?", "12 GB are free on /."),
        ("how long did the build take?", "It took 4 min 12 s."),
        ("what's the coverage?", "83.4 % of the lines are covered."),
        ("what's our coverage now?", "Coverage is 83% now, up from 81%."),
        ("what time is it in Tokyo?", "It is 21:40 in Tokyo."),
        ("what was the last commit?", 'a1b2c3d, "fix: round half up", 20 minutes ago by Dana.'),
        ("which tests fail?", "test_login and test_refresh fail with a 401."),
        ("which branch am I on?", "`feature/x-12`."),
        ("who is on call this week?", "Dana is on call until Sunday."),
        ("how much memory does it use?", "The process 9912 uses 412 MB at the moment."),
        ("what's 17% VAT of 230?", "39.10."),
        ("convert 120 km/h to m/s", "33.33 m/s."),
        ("tell me a joke", "Why do programmers prefer dark mode? Because light attracts bugs."),
    ],
)
def test_what_is_otherwise_tomorrow_makes_no_memory(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("how big may an upload be?", "25 MB."),
        ("how long do backups take?", "About 40 minutes for 300 GB."),
        ("how fast is the new parser?", "It takes 41 ms for 10 MB, against 390 ms before."),
        ("how many replicas do we run?", "3, one per zone."),
        ("how much memory is used per worker?", "512 MB."),
        ("when does the cron run?", "Every day at 02:30 UTC."),
        ("what coverage do we require?", "At least 80 %."),
        ("which region is it?", "eu-north-1."),
        ("which region is the bucket in?", "eu-west-3."),
        ("did we ever support Python 3.8?", "Until 2.4; 3.0 needs 3.10."),
        ("is prod running on ARM?", "Yes, Graviton 3."),
        ("does the worker restart?", "Yes, systemd restarts it after 5 s."),
        ("how large is the model?", "1.2 GB, in models/e5.onnx."),
        ("is the db container up?", "No, it exits because POSTGRES_PASSWORD is missing in docker-compose.yml."),
    ],
)
def test_what_still_holds_is_kept_in_short_answers(asked: str, answered: str) -> None:
    assert len(learned(prompt(1, asked), answer(2, answered))) == 1
