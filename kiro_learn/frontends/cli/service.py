"""service: the daemon as a service of the system, installed, looked at and taken out again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kiro_learn.errors import ServiceError
from kiro_learn.frontends.cli import daemon_process, service_texts, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import start_shown
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import duration
from kiro_learn.services.autostart import WELL, Autostart, FileChange, ServicePlan

COLUMN = 17
NOT_SERVED = frozenset({"KIRO_LEARN_HOME", "KIRO_LEARN_INTERNAL"})
"""Variables that are no settings."""

_dry_run = click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
_force = click.option("--force", is_flag=True, help=service_texts.FORCE_HELP)


@click.group("service", no_args_is_help=False, help=service_texts.HELP)
def service_verb() -> None:
    pass


@service_verb.command("install", help=service_texts.INSTALL_HELP)
@_dry_run
@_force
@printing
def install(shell: Shell, *, dry_run: bool, force: bool, as_json: bool) -> None:
    autostart = _open(shell)
    plan = autostart.plan(force=force)
    if dry_run:
        _show(shell, plan, as_json=as_json)
    elif plan.is_empty:
        _say_nothing_to_do(shell, plan, service_texts.INSTALLED, "ok", as_json=as_json)
    else:
        if autostart.report().state not in WELL:
            _stop_the_other(shell, as_json=as_json)
        autostart.carry_out(plan, lambda step: _say_step(shell, step, as_json=as_json))
        with start_shown(shell, is_wanted=not as_json) as tell:
            address, seconds = daemon_process.wait_for_answer(shell.home, tell=tell, problem=service_texts.TOO_SLOW)
        if as_json:
            shell.print_json({**_as_json(plan), "done": True, "address": address})
            return
        answers_at = texts.ANSWERS_AT.format(address=address, time=duration(seconds))
        shell.print([f"{shell.out.mark('ok')} {texts.ANSWERS:{COLUMN}}{answers_at}"])
    if not as_json:
        _warn(shell, autostart)


@service_verb.command("status", help=service_texts.STATUS_HELP)
@printing
def status(shell: Shell, *, as_json: bool) -> int:
    autostart = _open(shell)
    report = autostart.report()
    is_well = report.state in WELL
    if as_json:
        shell.print_json(
            {
                "manager": report.manager,
                "path": str(report.path),
                "state": report.state.value,
                "origin": report.origin and report.origin.value,
                "ends_at_logout": report.ends_at_logout,
            }
        )
        return 0 if is_well else 1
    facts = [service_texts.STATES[report.state.value], service_texts.OF.format(manager=report.manager)]
    if report.origin is not None:
        facts.append(shell.tilde(report.path))
        facts += [service_texts.ORIGINS[origin] for origin in (report.origin.value,) if origin in service_texts.ORIGINS]
    mark = shell.out.mark("ok" if is_well else "wrong")
    shell.print([f"{mark} {shell.out.bold(service_texts.TITLE)}  {texts.DOT.join(facts)}"])
    if is_well:
        _warn(shell, autostart)
        return 0
    mend = "kiro-learn service install" if report.origin is None else "kiro-learn start"
    shell.say([f"{shell.err.dim(texts.HINT)}  {shell.err.command(mend)}"])
    return 1


@service_verb.command("uninstall", help=service_texts.UNINSTALL_HELP)
@_dry_run
@_force
@printing
def uninstall(shell: Shell, *, dry_run: bool, force: bool, as_json: bool) -> None:
    autostart = _open(shell)
    plan = autostart.plan_removal(force=force)
    if dry_run:
        _show(shell, plan, as_json=as_json)
        return
    if plan.is_empty:
        _say_nothing_to_do(shell, plan, service_texts.NOT_INSTALLED, "none", as_json=as_json)
        return
    autostart.carry_out(plan, lambda step: _say_step(shell, step, as_json=as_json))
    if as_json:
        shell.print_json({**_as_json(plan), "done": True})


def autostart_of(shell: Shell) -> Autostart | None:
    """None where this machine has no manager of a user's services."""
    try:
        return _open(shell)
    except ServiceError:
        return None


def planned_removal(shell: Shell, *, as_json: bool) -> Callable[[], None]:
    """What takes the service out, where one is installed, once it is called; that may raise ServiceError.

    Raises:
      ServiceError: its file was changed by hand.
    """
    autostart = autostart_of(shell)
    if autostart is None or not autostart.is_installed:
        return lambda: None
    plan = autostart.plan_removal()
    return lambda: autostart.carry_out(plan, lambda step: _say_step(shell, step, as_json=as_json))


def _open(shell: Shell) -> Autostart:
    return shell.open_maintenance().open_autostart(shell.home, shell.environment)


def _stop_the_other(shell: Shell, *, as_json: bool) -> None:
    """A daemon that was started by hand serves the home already; the service's would find it taken."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        if daemon_process.stop(client) is not None:
            _say_step(shell, service_texts.STOPS, as_json=as_json)


def _say_step(shell: Shell, step: str, *, as_json: bool) -> None:
    if not as_json:
        shell.print([f"{shell.out.mark('ok')} {_tilded(shell, step)}"])


def _tilded(shell: Shell, step: str) -> str:
    """``step`` with its path as people write it."""
    before, slash, rest = step.partition(" /")
    return f"{before} {shell.tilde(Path('/' + rest))}" if slash else step


def _say_nothing_to_do(shell: Shell, plan: ServicePlan, what: str, mark: str, *, as_json: bool) -> None:
    if as_json:
        shell.print_json({**_as_json(plan), "done": True})
    else:
        shell.print([f"{shell.out.mark(mark)} {what}"])


def _show(shell: Shell, plan: ServicePlan, *, as_json: bool) -> None:
    """What would be done."""
    if as_json:
        shell.print_json({**_as_json(plan), "done": False})
        return
    steps = [_run_line(command) for command in plan.first]
    if plan.change is not FileChange.NONE:
        steps.append(service_texts.STEPS[plan.change.value].format(path=shell.tilde(plan.path)))
    if plan.change in {FileChange.CREATE, FileChange.REPLACE}:
        steps += [f"  {shell.out.dim(line)}".rstrip() for line in os.fsdecode(plan.content).splitlines()]
    steps += [_run_line(command) for command in plan.then]
    shell.print([*steps, service_texts.UNCHANGED])


def _run_line(command: Any) -> str:
    return service_texts.STEPS["run"].format(command=" ".join(command))


def _as_json(plan: ServicePlan) -> dict[str, Any]:
    return {
        "path": str(plan.path),
        "change": plan.change.value,
        "content": os.fsdecode(plan.content),
        "commands": [list(command) for command in (*plan.first, *plan.then)],
    }


def _warn(shell: Shell, autostart: Autostart) -> None:
    """What works otherwise than with a daemon that was started by hand."""
    if autostart.report().ends_at_logout:
        command = shell.out.command(service_texts.LINGER)
        shell.print([f"{shell.out.mark('warning')} {service_texts.ENDS}{texts.DOT}{command}"])
    unseen = [name for name in sorted(shell.environment) if name.startswith("KIRO_LEARN_") and name not in NOT_SERVED]
    if unseen:
        said = service_texts.VARIABLES.format(names=", ".join(unseen), path=shell.tilde(shell.home / "settings.toml"))
        shell.print([f"{shell.out.mark('warning')} {said}"])
