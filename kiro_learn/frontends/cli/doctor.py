"""The verb doctor: what is wrong, and the command that repairs it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted
from kiro_learn.services.doctor import CheckState, DaemonFacts, DaemonState, Doctor, Finding, Fix, facts_of, summary

PATIENCE_SECONDS = 0.9
"""The whole check is to take 3 seconds, of which the check of the database takes 2."""
UNAUTHORIZED = 401


@click.command("doctor")
@click.option("--fix", "is_fixing", is_flag=True, help="Mend what is safe to mend, and show what was done.")
@click.option("--all", "show_all", is_flag=True, help="Also show the checks that are well.")
@printing
def doctor_verb(shell: Shell, *, is_fixing: bool, show_all: bool) -> int:
    """Show what is wrong, and the command that mends it."""
    doctor = _doctor(shell)
    findings = doctor.examine()
    fixes = doctor.fix(findings) if is_fixing else ()
    if fixes:
        # The daemon is asked again, because a repair may have removed what hindered it.
        findings = _doctor(shell).examine(fixes)
    fixed = [{"id": fix.check.check_id, "done": fix.done, "problem": fix.problem} for fix in fixes]
    shell.answer({**summary(findings), "fixed": fixed}, lambda: page(findings, fixes, shell.out, show_all=show_all))
    has_problem = any(finding.outcome.state is CheckState.FAILED for finding in findings)
    return 1 if has_problem or any(fix.problem for fix in fixes) else 0


def _doctor(shell: Shell) -> Doctor:
    with shell.client(patience_seconds=PATIENCE_SECONDS) as client:
        facts = daemon_facts(client)
    return shell.open_maintenance().open_doctor(shell.home, shell.environment, facts)


def daemon_facts(client: Client) -> DaemonFacts:
    """The facts of the daemon's status, or of the error in its place."""
    try:
        status = client.status()
    except DaemonUnreachable as error:
        return DaemonFacts(state=DaemonState.DOWN, problem=str(error), hint=error.hint)
    except DaemonSilent as error:
        return DaemonFacts(state=DaemonState.SILENT, problem=str(error), hint=error.hint)
    except RequestRefused as error:
        state = DaemonState.REFUSED if error.status == UNAUTHORIZED else DaemonState.ILL
        return DaemonFacts(state=state, problem=str(error), hint=error.hint, address=client.address)
    return facts_of(status, client.address)


# The findings as lines: all problems, each with its command; checks that are well only as a number.

COLUMN = 22
MARK_WIDTH = 2
MARKS = {
    CheckState.OK: "ok",
    CheckState.WARNING: "warning",
    CheckState.FAILED: "wrong",
    CheckState.SKIPPED: "none",
}


def page(findings: Sequence[Finding], fixes: Sequence[Fix], terminal: Terminal, *, show_all: bool) -> list[str]:
    """The whole output."""
    lines = [line for fix in fixes for line in _fixed(fix, terminal)]
    lines += [line for each in findings if show_all or each.is_wrong for line in _found(each, terminal)]
    well = sum(finding.outcome.state is CheckState.OK for finding in findings)
    if well and not show_all:
        said = f"{counted(well, 'check is well', 'checks are well'):{COLUMN}}{terminal.dim('--all lists them')}"
        lines.append(f"{terminal.mark('ok')} {said}")
    return [*lines, _sum(findings, terminal)]


def _found(finding: Finding, terminal: Terminal) -> Iterator[str]:
    outcome = finding.outcome
    name = finding.check.topic if finding.is_wrong else finding.check.title
    yield from _line(MARKS[outcome.state], name, outcome.detail, terminal)
    if outcome.mend:
        yield f"    mend: {terminal.command(outcome.mend)}"


def _fixed(fix: Fix, terminal: Terminal) -> Iterator[str]:
    yield from _line("wrong" if fix.problem else "ok", fix.check.topic, fix.problem or fix.done, terminal)


def _line(mark: str, name: str, detail: str, terminal: Terminal) -> Iterator[str]:
    room = terminal.width - MARK_WIDTH - COLUMN
    first, *rest = textwrap.wrap(detail, room, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{terminal.mark(mark)} {terminal.bold(f'{name:{COLUMN}}')}{first}".rstrip()
    yield from (f"{'':{MARK_WIDTH + COLUMN}}{line}" for line in rest)


def _sum(findings: Sequence[Finding], terminal: Terminal) -> str:
    wrong = [finding for finding in findings if finding.is_wrong]
    if not wrong:
        return "Nothing is wrong."
    problem_count = sum(finding.outcome.state is CheckState.FAILED for finding in wrong)
    to_know = (
        counted(len(wrong) - problem_count, "thing to know", "things to know") if len(wrong) > problem_count else ""
    )
    problems = counted(problem_count, "problem", "problems") if problem_count else "No problem"
    said = f"{problems}, {to_know}" if to_know else problems
    if not any(finding.check.fix and "doctor --fix" in finding.outcome.mend for finding in wrong):
        return f"{said}."
    return f"{said}. Mend everything that is safe to mend: {terminal.command('kiro-learn doctor --fix')}"
