"""Runs the checks of a home, and mends what is safe to mend."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Sequence
from datetime import datetime

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.version import __version__
from kiro_learn.ports.inspection import DatabaseInspection, HomeInspection
from kiro_learn.services.autostart import Autostart
from kiro_learn.services.installed_files import InstalledFiles


class CheckState(enum.Enum):
    """What came of a check."""

    OK = "ok"
    WARNING = "warn"
    FAILED = "fail"
    SKIPPED = "skipped"


class DaemonState(enum.Enum):
    """What a client met."""

    RUNNING = "running"
    DOWN = "down"
    SILENT = "silent"
    """It is there and does not answer."""
    REFUSED = "refused"
    """It answers, and does not take our token."""


@attrs.frozen(kw_only=True)
class DaemonFacts:
    """What the daemon says of itself, as a client asked for it."""

    state: DaemonState
    problem: str = ""
    hint: str = ""
    """The command that helps against the problem."""
    address: str = ""
    pid: int | None = None
    version: str = ""
    learns_by: str = ""
    """Who words memories."""
    obstacle: str = ""
    """Why no model words memories where one would have been used."""
    model_problem: str = ""
    """Why the model that words memories failed last, or what is wrong with how it is set up."""
    embedding_problem: str = ""
    """Why memories are found by their words alone."""
    damaged_row_count: int = 0

    @property
    def is_running(self) -> bool:
        """Whether it answered with its status."""
        return self.state is DaemonState.RUNNING


@attrs.frozen(kw_only=True)
class Examination:
    """All that checks look at."""

    home: HomeInspection
    database: DatabaseInspection
    daemon: DaemonFacts
    version: str = __version__
    """Of the program that asks."""
    now: datetime
    port_owner: Callable[[int], str | None]
    """Who listens on a port, in words; None if no process does."""
    service: Autostart | None
    """None: this machine has no service manager."""
    agent_files: InstalledFiles


@attrs.frozen
class Outcome:
    """What one check found."""

    state: CheckState
    detail: str
    """What was looked at, or what is wrong."""
    mend: str = ""
    """The command that mends it; empty where nothing is wrong, or where none does."""


@attrs.frozen
class Check:
    """One thing that may be wrong."""

    check_id: str
    title: str
    """What is so if nothing is wrong."""
    topic: str
    """What it is about."""
    look: Callable[[Examination], Outcome]
    fix: Callable[[Examination], str] | None = None
    """Mends it where that loses nothing, and answers what it did; empty if it may not now."""


@attrs.frozen
class Finding:
    """A check and its outcome."""

    check: Check
    outcome: Outcome

    @property
    def is_wrong(self) -> bool:
        """Whether the user should do something about it."""
        return self.outcome.state in {CheckState.FAILED, CheckState.WARNING}


@attrs.frozen
class Fix:
    """What was done about a finding, or why it could not be."""

    check: Check
    done: str
    problem: str = ""


class Doctor:
    """The checks, in their order. Every method blocks."""

    def __init__(self, examination: Examination, checks: Sequence[Check]) -> None:
        self._examination = examination
        self._checks = checks

    def examine(self) -> tuple[Finding, ...]:
        """Run every check; nothing is changed. One that meets a file which cannot be read fails, and stops no other."""
        return tuple(Finding(check, self._outcome(check)) for check in self._checks)

    def fix(self, findings: Sequence[Finding]) -> tuple[Fix, ...]:
        """Mend what is wrong and safe to mend, in order; one that fails stops no other."""
        fixes = []
        for finding in findings:
            if finding.is_wrong and finding.check.fix is not None:
                try:
                    done, problem = finding.check.fix(self._examination), ""
                except (KiroLearnError, OSError) as error:
                    done, problem = "", _said(error)
                if done or problem:
                    fixes.append(Fix(finding.check, done, problem))
        return tuple(fixes)

    def _outcome(self, check: Check) -> Outcome:
        try:
            return check.look(self._examination)
        except OSError as error:
            path = str(error.filename or self._examination.home.path)
            return Outcome(CheckState.FAILED, _said(error), f"ls -ld {shlex.quote(path)}")
        except KiroLearnError as error:
            return Outcome(CheckState.FAILED, str(error), error.hint)


def _said(error: KiroLearnError | OSError) -> str:
    if isinstance(error, KiroLearnError):
        return str(error)
    return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
