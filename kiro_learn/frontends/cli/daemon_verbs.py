"""The verbs serve, start, stop and restart; and service, which starts the daemon with the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kiro_learn.errors import PortTaken, ServiceError
from kiro_learn.frontends.cli import daemon_process, texts
from kiro_learn.frontends.cli.command import build_note
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import start_shown
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import duration
from kiro_learn.services.autostart import WELL, Autostart, FileChange, ServicePlan

STEPS = {
    "create": "new     {path}",
    "replace": "change  {path}",
    "remove": "remove  {path}",
    "run": "run     {command}",
}
STATES = {
    "absent": "not installed",
    "unloaded": "installed, not loaded",
    "stopped": "installed, stopped",
    "starting": "starting",
    "running": "running",
    "failed": "failed",
}
ORIGINS = {"edited": "changed by hand", "foreign": "not written by kiro-learn"}
TOO_SLOW = "the service was started, but the daemon did not answer within {seconds:.0f} s"

COLUMN = 17

_port = click.option(
    "--port", type=click.IntRange(0, 65535), default=None, help="The port to listen on; 0 picks a free one."
)


@click.command("serve")
@_port
@printing
def serve_verb(shell: Shell, port: int | None) -> int:
    """Run the daemon in this terminal."""
    # On a terminal, the log is also written there; the log of a service is only in the home.
    return shell.serve(shell.home, port=port, log_to_stderr=sys.stderr.isatty())


@click.command("start")
@_port
@click.option("--anew", is_flag=True, help="Begin an empty memory if the database of this home is gone.")
@printing
def start_verb(shell: Shell, port: int | None, *, anew: bool) -> None:
    """Run the daemon in the background."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        health = daemon_process.health_of(client)
        address = None if health is None else client.address
    if address is None:
        if anew:
            daemon_process.allow_beginning_anew(shell.home)
        _start(shell, port)
    elif shell.as_json:
        shell.print_json({"address": address, "started": False})
    else:
        shell.print([_line(shell, "ok", "Already running", address)])
        assert health is not None
        if said := build_note(health["version"], health.get("build", "")):
            shell.say([f"{shell.err.mark('warning')} {said}"])


@click.command("stop")
@printing
def stop_verb(shell: Shell) -> None:
    """Stop the daemon; what is under way is finished first."""
    # Before the signal: a hook that runs in between must not start the daemon again.
    daemon_process.forbid_starts_by_hooks(shell.home)
    seconds = stop_daemon(shell)
    if seconds is None:
        shell.answer({"stopped": False}, lambda: [_line(shell, "none", "Not running", "")])
    else:
        shell.answer({"stopped": True}, lambda: [_line(shell, "ok", "Stopped", f"in {duration(seconds)}")])


@click.command("restart")
@_port
@printing
def restart_verb(shell: Shell, port: int | None) -> None:
    """Stop the daemon and start it again."""
    _end_for_another(shell, port)
    _start(shell, port)


def restart_daemon(shell: Shell) -> tuple[str, float]:
    """Stop the daemon and start it again, like ``start_daemon``; if the next one cannot start, nothing is stopped."""
    _end_for_another(shell, None)
    return start_daemon(shell)


def _end_for_another(shell: Shell, port: int | None) -> None:
    _insist_on_start(shell, port)
    stop_daemon(shell)


def _insist_on_start(shell: Shell, port: int | None) -> None:
    """Check that the next daemon can start before the running one is stopped.

    Raises:
      ConfigError: the home or the settings are wrong.
      Failed: another program listens on the port.
    """
    service = _service_for(shell, port)
    environment = shell.environment if service is None else {}  # a service does not get our environment
    try:
        shell.open_maintenance().insist_on_start(shell.home, environment, port=port)
    except PortTaken as error:
        raise Failed(str(error), hint="kiro-learn restart --port 0") from error


def _start(shell: Shell, port: int | None) -> None:
    address, seconds = start_daemon(shell, port)
    answers_at = _line(shell, "ok", texts.ANSWERS, f"{address} in {duration(seconds)}")
    shell.answer({"address": address, "started": True, "seconds": round(seconds, 3)}, lambda: [answers_at])


def start_daemon(shell: Shell, port: int | None = None) -> tuple[str, float]:
    """Start the daemon if none runs: with its service if one is installed and no port is given.

    Returns: its address, and the seconds until it answered.

    Raises:
      ServiceError: the service could not be started.
      KiroLearnError: see ``daemon_process.start``.
    """
    arguments = [] if port is None else ["--port", str(port)]
    arguments += ["--json"] if shell.as_json else []
    service = _service_for(shell, port)
    with start_shown(shell) as tell:
        if service is not None:
            service.start()
            return daemon_process.wait_for_answer(shell.home, tell=tell, problem=TOO_SLOW)
        return daemon_process.start(shell.home, shell.environment, serve_arguments=arguments, tell=tell)


def _service_for(shell: Shell, port: int | None) -> Autostart | None:
    """The service that starts the daemon; None if none is installed, or a ``port`` is given."""
    autostart = autostart_of(shell) if port is None else None
    return autostart if autostart is not None and autostart.is_installed else None


def stop_daemon(shell: Shell) -> float | None:
    """Stop the daemon, if one runs; returns the result of ``daemon_process.stop``."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        return daemon_process.stop(client)


def _line(shell: Shell, mark: str, what: str, fact: str) -> str:
    return f"{shell.out.mark(mark)} {what:{COLUMN}}{fact}".rstrip()


# service: the daemon as a service of the system: installed, looked at and removed.

NOT_SERVED = frozenset({"KIRO_LEARN_HOME", "KIRO_LEARN_INTERNAL"})
"""Variables that are no settings."""

_dry_run = click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
_force = click.option("--force", is_flag=True, help="Also if the service's file was changed by hand.")


@click.group("service", no_args_is_help=False)
def service_verb() -> None:
    """Start the daemon with the machine, and again when it fails."""


@service_verb.command("install")
@_dry_run
@_force
@printing
def install(shell: Shell, *, dry_run: bool, force: bool) -> None:
    """Install the service, and start it."""
    autostart = _open(shell)
    plan = autostart.plan(force=force)
    if dry_run:
        _show(shell, plan)
    elif plan.is_empty:
        shell.answer(
            _as_json(plan, done=True), lambda: [f"{shell.out.mark('ok')} Service is installed and runs already"]
        )
    else:
        if autostart.report().state not in WELL:
            _stop_the_other(shell)
        autostart.carry_out(plan, lambda step: _say_step(shell, step))
        with start_shown(shell) as tell:
            address, seconds = daemon_process.wait_for_answer(shell.home, tell=tell, problem=TOO_SLOW)
        answers_at = _line(shell, "ok", texts.ANSWERS, f"{address} in {duration(seconds)}")
        shell.answer({**_as_json(plan, done=True), "address": address}, lambda: [answers_at])
    if not shell.as_json:
        _warn(shell, autostart)


@service_verb.command("status")
@printing
def status(shell: Shell) -> int:
    """Show the state of the service."""
    autostart = _open(shell)
    report = autostart.report()
    is_well = report.state in WELL
    if shell.as_json:
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
    facts = [STATES[report.state.value], f"by {report.manager}"]
    if report.origin is not None:
        facts.append(shell.tilde(report.path))
        facts += [ORIGINS[origin] for origin in (report.origin.value,) if origin in ORIGINS]
    mark = shell.out.mark("ok" if is_well else "wrong")
    shell.print([f"{mark} {shell.out.bold('Service')}  {texts.DOT.join(facts)}"])
    if is_well:
        _warn(shell, autostart)
        return 0
    mend = "kiro-learn service install" if report.origin is None else "kiro-learn start"
    shell.hint(mend)
    return 1


@service_verb.command("uninstall")
@_dry_run
@_force
@printing
def uninstall(shell: Shell, *, dry_run: bool, force: bool) -> None:
    """Stop the service, and remove its file."""
    autostart = _open(shell)
    plan = autostart.plan_removal(force=force)
    if dry_run:
        _show(shell, plan)
        return
    if plan.is_empty:
        shell.answer(_as_json(plan, done=True), lambda: [f"{shell.out.mark('none')} Service is not installed"])
        return
    autostart.carry_out(plan, lambda step: _say_step(shell, step))
    if shell.as_json:
        shell.print_json(_as_json(plan, done=True))


def autostart_of(shell: Shell) -> Autostart | None:
    """The service manager's view of the daemon; None if this machine has no manager of a user's services."""
    try:
        return _open(shell)
    except ServiceError:
        return None


def planned_removal(shell: Shell) -> Callable[[], None]:
    """A function that removes the service, if one is installed; it may raise ServiceError.

    Raises:
      ServiceError: the file of the service was changed by hand.
    """
    autostart = autostart_of(shell)
    if autostart is None or not autostart.is_installed:
        return lambda: None
    plan = autostart.plan_removal()
    return lambda: autostart.carry_out(plan, lambda step: _say_step(shell, step))


def _open(shell: Shell) -> Autostart:
    return shell.open_maintenance().open_autostart(shell.home, shell.environment)


def _stop_the_other(shell: Shell) -> None:
    """Stop a daemon that was started by hand: it holds the home, so the daemon of the service could not start."""
    if stop_daemon(shell) is not None:
        _say_step(shell, "stop the daemon that runs without the service")


def _say_step(shell: Shell, step: str) -> None:
    if not shell.as_json:
        shell.print([f"{shell.out.mark('ok')} {_tilded(shell, step)}"])


def _tilded(shell: Shell, step: str) -> str:
    """``step`` with its path in the form that people write."""
    before, slash, rest = step.partition(" /")
    return f"{before} {shell.tilde(Path('/' + rest))}" if slash else step


def _show(shell: Shell, plan: ServicePlan) -> None:
    shell.answer(_as_json(plan, done=False), lambda: _steps(shell, plan))


def _steps(shell: Shell, plan: ServicePlan) -> list[str]:
    """The steps that would be done."""
    steps = [_run_line(command) for command in plan.first]
    if plan.change is not FileChange.NONE:
        steps.append(STEPS[plan.change.value].format(path=shell.tilde(plan.path)))
    if plan.change in {FileChange.CREATE, FileChange.REPLACE}:
        steps += [f"  {shell.out.dim(line)}".rstrip() for line in os.fsdecode(plan.content).splitlines()]
    steps += [_run_line(command) for command in plan.then]
    return [*steps, "Nothing was changed."]


def _run_line(command: Any) -> str:
    return STEPS["run"].format(command=" ".join(command))


def _as_json(plan: ServicePlan, *, done: bool) -> dict[str, Any]:
    return {
        "path": str(plan.path),
        "change": plan.change.value,
        "content": os.fsdecode(plan.content),
        "commands": [list(command) for command in (*plan.first, *plan.then)],
        "done": done,
    }


def _warn(shell: Shell, autostart: Autostart) -> None:
    """Warn of the differences from a daemon that was started by hand."""
    if autostart.report().ends_at_logout:
        command = shell.out.command("loginctl enable-linger")
        shell.print([f"{shell.out.mark('warning')} The daemon stops when you log out{texts.DOT}{command}"])
    unseen = [name for name in sorted(shell.environment) if name.startswith("KIRO_LEARN_") and name not in NOT_SERVED]
    if unseen:
        file = shell.tilde(shell.home / "settings.toml")
        said = f"The service does not see {', '.join(unseen)}: write their values into {file}"
        shell.print([f"{shell.out.mark('warning')} {said}"])
