"""What every check of a home says in: its outcomes, and the commands that many of them name."""

from __future__ import annotations

from kiro_learn.services.doctor import CheckState, Outcome

FIX = "kiro-learn doctor --fix"
START = "kiro-learn start"
STOP = "kiro-learn stop"
WHICH = "type -a kiro-learn"
"""Names every command of ours on the PATH, the one that is run first."""
RESTART = "kiro-learn restart"

LEAST_FREE_BYTES = 100_000_000
"""Below it, SQLite's log and the daemon's may fill the disk within a day."""


def ok(detail: str) -> Outcome:
    """What was looked at is as it should be; ``detail`` says what that is."""
    return Outcome(CheckState.OK, detail)


def skipped(detail: str) -> Outcome:
    """There was nothing to look at; ``detail`` says why."""
    return Outcome(CheckState.SKIPPED, detail)


def warning(detail: str, mend: str) -> Outcome:
    """It works, but not as well as it should; the command ``mend`` helps."""
    return Outcome(CheckState.WARNING, detail, mend)


def failed(detail: str, mend: str) -> Outcome:
    """Something does not work; the command ``mend`` helps."""
    return Outcome(CheckState.FAILED, detail, mend)


def counted(count: int, noun: str) -> str:
    """``3 events``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
