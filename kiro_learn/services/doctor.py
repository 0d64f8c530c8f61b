"""Runs the checks of a home, and repairs what is safe to repair."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.record import RuleConflict
from kiro_learn.model.statistics import ServerFacts as ServerFacts  # noqa: PLC0414  # for those above, from here
from kiro_learn.model.version import __version__
from kiro_learn.ports.backups import BackupFolder, StoreReplacement
from kiro_learn.ports.home import DatabaseInspection, HomeInspection
from kiro_learn.services.agent_surroundings import InstalledFiles
from kiro_learn.services.autostart import Autostart

DATABASE = "database"
"""The id of the check of the database."""


class CheckState(enum.Enum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warn"
    FAILED = "fail"
    SKIPPED = "skipped"


class DaemonState(enum.Enum):
    """Whether the daemon answers a client."""

    RUNNING = "running"
    DOWN = "down"
    SILENT = "silent"
    """A process listens, but does not answer."""
    REFUSED = "refused"
    """The daemon answers, but refuses our token."""
    ILL = "ill"
    """The daemon answers, but cannot give its status, mostly because of its database."""


@attrs.frozen(kw_only=True)
class DaemonFacts:
    """The daemon's status, as a client received it."""

    state: DaemonState
    problem: str = ""
    hint: str = ""
    """A command that helps with the problem."""
    address: str = ""
    pid: int | None = None
    version: str = ""
    build: str = ""
    learns_by: str = ""
    """The learner that writes memories."""
    obstacle: str = ""
    """Why no model writes memories although one is wanted."""
    model_problem: str = ""
    """Why the learner's model failed last, or what is wrong with its settings."""
    model_login: str = ""
    """The command that logs in to the model's agent, if that is what it wants."""
    embedding_problem: str = ""
    """Why memories are found by words alone."""
    damaged_row_count: int = 0
    log_problem: str = ""
    """Why the daemon cannot write its log."""
    write_problem: str = ""
    """Why the daemon could not store what it wrote last."""
    rule_conflicts: tuple[RuleConflict, ...] = ()
    """Lines of agents' rule files that contradict memories."""
    backup_problem: str = ""
    """Why the last daily copy could not be made."""
    spool_problems: tuple[str, ...] = ()
    """The files of the spool that the daemon could not read or remove."""

    @property
    def is_running(self) -> bool:
        """Whether the daemon answered with its status."""
        return self.state is DaemonState.RUNNING


def facts_of(status: Mapping[str, Any], address: str) -> DaemonFacts:
    """The facts in the body of ``GET /v1/status``, as a daemon at ``address`` answered it."""
    llm, embedder = status["llm"], status["embedder"]
    return DaemonFacts(
        state=DaemonState.RUNNING,
        address=address,
        pid=status["pid"],
        version=status["version"],
        build=status.get("build", ""),  # an older daemon does not send it
        learns_by=llm["name"],
        obstacle=llm["obstacle"] or "",
        model_problem=llm["problem"] or llm["warning"] or "",
        model_login=llm.get("login") or "",  # an older daemon does not tell
        embedding_problem=embedder["problem"] or "" if embedder["state"] == "failed" else "",
        damaged_row_count=status["damaged"]["count"],
        log_problem=status.get("log_problem", ""),  # a daemon of the version before does not send it
        write_problem=status.get("write_problem", ""),  # as above
        rule_conflicts=tuple(
            RuleConflict(*map(conflict.get, ("record_id", "title", "path", "line", "text", "other_id")))
            for conflict in status.get("rule_conflicts", ())
        ),
        backup_problem=status.get("backup", {}).get("problem", ""),  # as above
        spool_problems=tuple(status.get("spool", {}).get("problems", ())),
    )


@attrs.frozen(kw_only=True)
class Examination:
    """The facts that checks read."""

    home: HomeInspection
    database: DatabaseInspection
    copies: BackupFolder
    replacement: StoreReplacement
    daemon: DaemonFacts
    version: str = __version__
    """The version of the program that runs the checks."""
    build: str = ""
    """The build of that program."""
    now: datetime
    port_owner: Callable[[int], str | None]
    """Describes the process that listens on a port; None if there is none."""
    service: Autostart | None
    """The daemon's service; None: this machine has no service manager."""
    agent_files: InstalledFiles
    server: ServerFacts | None = None
    """The state of the server that keeps the database; None: the database is a file."""
    is_database_mended: bool = False
    """Whether the database was just repaired, for which the daemon had to be stopped."""


@attrs.frozen
class Outcome:
    """What one check found."""

    state: CheckState
    detail: str
    """What was looked at, or what is wrong."""
    mend: str = ""
    """The command that repairs it; empty if nothing is wrong or no command helps."""


@attrs.frozen
class Check:
    """One thing that may be wrong."""

    check_id: str
    title: str
    """A statement that is true if nothing is wrong."""
    topic: str
    """The subject of the check, in one word."""
    look: Callable[[Examination], Outcome]
    fix: Callable[[Examination], str] | None = None
    """Repairs the thing without loss and returns what it did; empty if a repair is not allowed now."""


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
    """The repair that was made for a finding, or why it failed."""

    check: Check
    done: str
    problem: str = ""

    @property
    def is_of_database(self) -> bool:
        """Whether the database was repaired."""
        return self.check.check_id == DATABASE and not self.problem


class Doctor:
    """The checks, in their order. Every method blocks."""

    def __init__(self, examination: Examination, checks: Sequence[Check]) -> None:
        self._examination = examination
        self._checks = checks

    def examine(self, done: Sequence[Fix] = ()) -> tuple[Finding, ...]:
        """Run every check; nothing is changed. If a check cannot read a file, it fails, and the others still run.

        Args:
          done: the repairs that were just made.
        """
        seen = attrs.evolve(self._examination, is_database_mended=any(fix.is_of_database for fix in done))
        outcomes = [(check, self._outcome(check, seen)) for check in self._checks]
        if self._is_read_only:
            outcomes = [(check, _without_own_commands(outcome)) for check, outcome in outcomes]
        return tuple(Finding(check, outcome) for check, outcome in outcomes)

    @property
    def _is_read_only(self) -> bool:
        """Whether the home exists and cannot be written, so that no command of ours can repair anything in it."""
        home = self._examination.home
        return home.exists() and not home.is_writable()

    def fix(self, findings: Sequence[Finding]) -> tuple[Fix, ...]:
        """Repair what is wrong and safe to repair, in order; a failed repair does not stop the others."""
        fixes: list[Fix] = []
        if self._is_read_only:
            return ()
        for finding in findings:
            if finding.is_wrong and finding.check.fix is not None:
                try:
                    done, problem = finding.check.fix(self._examination), ""
                except (KiroLearnError, OSError) as error:
                    done, problem = "", _message(error)
                if done or problem:
                    fixes.append(Fix(finding.check, done, problem))
        return tuple(fixes)

    def _outcome(self, check: Check, seen: Examination) -> Outcome:
        try:
            return check.look(seen)
        except OSError as error:
            return Outcome(CheckState.FAILED, _message(error), self._look_at(error))
        except KiroLearnError as error:
            return Outcome(CheckState.FAILED, str(error), error.hint)

    def _look_at(self, error: OSError) -> str:
        """The command that moves a folder out of the way where a file should be, or shows the file's rights."""
        path = shlex.quote(str(error.filename or self._examination.home.path))
        is_of_wrong_sort = isinstance(error, IsADirectoryError) and error.filename
        return f"mv {path} {path}.put-aside" if is_of_wrong_sort else f"ls -ld {path}"


def _without_own_commands(outcome: Outcome) -> Outcome:
    return attrs.evolve(outcome, mend="") if outcome.mend.startswith("kiro-learn ") else outcome


def summary(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as JSON, for programs."""
    checks = [
        {
            "id": each.check.check_id,
            "title": each.check.title,
            "state": each.outcome.state.value,
            "detail": each.outcome.detail,
            "mend": each.outcome.mend,
        }
        for each in findings
    ]
    return {"ok": not any(each.outcome.state is CheckState.FAILED for each in findings), "checks": checks}


def _message(error: KiroLearnError | OSError) -> str:
    if isinstance(error, KiroLearnError):
        return str(error)
    return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"


# What the checks share: the outcomes, and the commands that many of them name.

FIX = "kiro-learn doctor --fix"
START = "kiro-learn start"
STOP = "kiro-learn stop"
WHICH = "type -a kiro-learn"
"""Shows every kiro-learn command on the PATH, first the one that runs."""
RESTART = "kiro-learn restart"

LEAST_FREE_BYTES = 100_000_000
"""With less free space, the logs of SQLite and of the daemon may fill the disk within a day."""


def ok(detail: str) -> Outcome:
    """Nothing is wrong; ``detail`` says what was looked at."""
    return Outcome(CheckState.OK, detail)


def skipped(detail: str) -> Outcome:
    """There was nothing to look at; ``detail`` says why."""
    return Outcome(CheckState.SKIPPED, detail)


def warning(detail: str, mend: str) -> Outcome:
    """Something works, but not as well as it should; the command ``mend`` helps."""
    return Outcome(CheckState.WARNING, detail, mend)


def failed(detail: str, mend: str) -> Outcome:
    """Something does not work; the command ``mend`` helps."""
    return Outcome(CheckState.FAILED, detail, mend)


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun, such as ``3 events``; ``plural`` if the plural is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
