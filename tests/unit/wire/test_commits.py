"""The commits that give a reason, and the memories made from them."""

from __future__ import annotations

import pytest

from kiro_learn.wire.commits import BARE_REVERTS, BOTS, BUMPS, MERGES, NO_REASON, Reasoned, reason_in


def told(message: str, author: str = "ada <ada@example.com>", *, is_merge: bool = False) -> Reasoned | str:
    return reason_in(message, author, is_merge=is_merge)


@pytest.mark.parametrize(
    ("message", "title", "kind"),
    [
        ("feat(api): Answer in JSON instead of XML (#12)", "Answer in JSON instead of XML", "decision"),
        ("Retry uploads\n\nThe host breaks one of ten connections.", "Retry uploads", "discovery"),
        (
            'Revert "fix: Cache pages"\n\nThis reverts commit abcdef1.\n\nIt broke the login.',
            "Reverted: Cache pages",
            "rejected",
        ),
        ("revert: feat: use redis\n\nReverted because the operators have none.", "Reverted: use redis", "rejected"),
        (
            'Revert(web)!: "feat: cache it" (#3)\n\nThis reverts commit abcdef1 because it broke the login.',
            "Reverted: cache it",
            "rejected",
        ),
        ("fix(pdf): crash\n\nThe font was missing because the image has none.", "pdf: crash", "discovery"),
        (
            "fix: crash\n\nThe font was missing because x. It is there.",
            "crash: The font was missing because x.",
            "discovery",
        ),
        ("fix: login drops because the refresh ran late", "login drops because the refresh ran late", "discovery"),
        ("fix(db): use a lock instead of a retry", "use a lock instead of a retry", "decision"),
        ("fix(db): drop v1 keys\n\nBREAKING CHANGE: they fail because of X", "drop v1 keys", "decision"),
        ("Drop v1\n\nBREAKING CHANGE: nobody can call /v1 because it is gone", "Drop v1", "decision"),
    ],
)
def test_these_say_why(message: str, title: str, kind: str) -> None:
    found = told(message)

    assert isinstance(found, Reasoned)
    assert (found.title, found.kind) == (title, kind)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Add a test", NO_REASON),
        ("Add tests\n\n- add one\n- add another", NO_REASON),
        ("Fix it\n\nFixes: #1", NO_REASON),
        ('Revert "Cache pages"\n\nThis reverts commit abcdef1.', BARE_REVERTS),
        ("revert: use redis\n\nThis reverts commit abcdef1.", BARE_REVERTS),
        ("Bump pool from 1 to 2\n\nbecause", BUMPS),
        ("chore(deps): update x\n\nbecause", BUMPS),
        ("Release v1.2\n\nbecause", BUMPS),
        ("1.4.0", BUMPS),
        ("", NO_REASON),
    ],
)
def test_these_do_not(message: str, reason: str) -> None:
    assert told(message) == reason


def test_merges_and_bots_do_not() -> None:
    assert told("Merge it\n\nbecause it is done", is_merge=True) == MERGES
    assert told("Update it\n\nbecause it is old", "renovate[bot] <bot@example.com>") == BOTS


def test_a_long_body_keeps_its_first_sentence_and_its_reasons() -> None:
    filling = "This sentence tells one more thing that was done. " * 60
    found = told(f"Keep it\n\nIt was slow. {filling}It stays because the disk is full.")

    assert isinstance(found, Reasoned)
    assert found.summary == "It was slow. It stays because the disk is full."


def test_code_quotes_and_people_are_left_out() -> None:
    found = told("Keep it\n\nIt must stay.\n\n    code here\n> quoted\n\nCo-authored-by: bob <b@x>\nRefs: #7")

    assert isinstance(found, Reasoned)
    assert (found.summary, found.facts) == ("It must stay.", ("Refs: #7",))
