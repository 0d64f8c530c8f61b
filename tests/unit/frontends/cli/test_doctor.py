from __future__ import annotations

from kiro_learn.frontends.cli.doctor import page
from kiro_learn.services.doctor import Check, CheckState, Finding, Fix, Outcome
from tests.unit.frontends.cli.samples import ASCII, COLOURED, PLAIN, without_escapes

FIXABLE = "kiro-learn doctor --fix"


def finding(topic: str, state: CheckState, detail: str, mend: str = "", *, can_fix: bool = False) -> Finding:
    outcome = Outcome(state, detail, mend)
    check = Check(topic.lower(), f"{topic} is well", topic, lambda _: outcome, (lambda _: "done") if can_fix else None)
    return Finding(check, outcome)


WELL = finding("Home", CheckState.OK, "no other user can read it")
HOOK = finding("Hook", CheckState.FAILED, "its interpreter /opt/python3.9 is gone", FIXABLE, can_fix=True)
EVENTS = finding("Events", CheckState.WARNING, "3 events are kept for later", "kiro-learn start")
SERVICE = finding("Service", CheckState.SKIPPED, "none is installed")


def test_problems_come_with_their_commands_and_what_is_well_is_counted() -> None:
    lines = page((WELL, HOOK, EVENTS, SERVICE), (), PLAIN, show_all=False)
    assert lines == [
        "✗ Hook                  its interpreter /opt/python3.9 is gone",
        "    mend: kiro-learn doctor --fix",
        "! Events                3 events are kept for later",
        "    mend: kiro-learn start",
        "✓ 1 check is well       --all lists them",
        "1 problem, 1 thing to know. Mend everything that is safe to mend: kiro-learn doctor --fix",
    ]
    assert without_escapes(page((WELL, HOOK, EVENTS, SERVICE), (), COLOURED, show_all=False)) == lines


def test_what_is_well_is_listed_if_asked_for() -> None:
    assert page((WELL, SERVICE), (), PLAIN, show_all=True) == [
        "✓ Home is well          no other user can read it",
        "  Service is well       none is installed",
        "Nothing is wrong.",
    ]


def test_what_cannot_be_fixed_is_not_offered() -> None:
    assert page((EVENTS,), (), PLAIN, show_all=False)[-1] == "No problem, 1 thing to know."


def test_what_was_done_comes_first() -> None:
    fixes = (Fix(HOOK.check, "wrote bin/hook anew"), Fix(WELL.check, "", "the disk is full"))
    assert page((), fixes, PLAIN, show_all=False) == [
        "✓ Hook                  wrote bin/hook anew",
        "✗ Home                  the disk is full",
        "Nothing is wrong.",
    ]


def test_a_long_sentence_is_wrapped_and_a_path_stays_whole() -> None:
    path = "/home/ana/" + "x" * 80
    long = finding("Hook", CheckState.FAILED, f"the file {path} is of another version of kiro-learn")
    lines = page((long,), (), ASCII, show_all=False)
    assert any(path in line for line in lines)
    assert all(len(line) <= 80 or path in line for line in lines)
