"""doctor: what is wrong, and the command that mends it."""

from __future__ import annotations

import click

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import doctor_screen, doctor_texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.services.doctor import CheckState, DaemonFacts, DaemonState, Doctor, facts_of, summary

PATIENCE_SECONDS = 0.9
"""The whole is to take 3 seconds, and the check of the database takes 2 of them."""
UNAUTHORIZED = 401


@click.command("doctor", help=doctor_texts.HELP)
@click.option("--fix", "is_fixing", is_flag=True, help=doctor_texts.FIX_HELP)
@click.option("--all", "show_all", is_flag=True, help=doctor_texts.ALL_HELP)
@printing
def doctor_verb(shell: Shell, *, is_fixing: bool, show_all: bool, as_json: bool) -> int:
    doctor = _doctor(shell)
    findings = doctor.examine()
    fixes = doctor.fix(findings) if is_fixing else ()
    if fixes:
        # The daemon is asked again: what was mended may have been in its way.
        findings = _doctor(shell).examine(fixes)
    if as_json:
        fixed = [{"id": fix.check.check_id, "done": fix.done, "problem": fix.problem} for fix in fixes]
        shell.print_json({**summary(findings), "fixed": fixed})
    else:
        shell.print(doctor_screen.page(findings, fixes, shell.out, show_all=show_all))
    has_problem = any(finding.outcome.state is CheckState.FAILED for finding in findings)
    return 1 if has_problem or any(fix.problem for fix in fixes) else 0


def _doctor(shell: Shell) -> Doctor:
    with shell.client(patience_seconds=PATIENCE_SECONDS) as client:
        facts = daemon_facts(client)
    return shell.open_maintenance().open_doctor(shell.home, shell.environment, facts)


def daemon_facts(client: Client) -> DaemonFacts:
    """What the daemon says of itself, or what comes in its place."""
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
