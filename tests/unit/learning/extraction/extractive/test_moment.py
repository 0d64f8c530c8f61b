"""What only tells how things stand is told from what still holds next month."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.chatter import is_of_the_moment
from tests.unit.learning.histories import answer, learned, prompt, tool


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
