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
