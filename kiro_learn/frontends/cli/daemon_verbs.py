"""serve, start, stop, restart."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kiro_learn.errors import PortTaken
from kiro_learn.frontends.cli import builds, daemon_process, service_texts, texts
from kiro_learn.frontends.cli.options import coloured, printing
from kiro_learn.frontends.cli.progress import start_shown
from kiro_learn.frontends.cli.service import autostart_of
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import duration

if TYPE_CHECKING:
    from kiro_learn.services.autostart import Autostart

COLUMN = 17

_port = click.option("--port", type=click.IntRange(0, 65535), default=None, help=texts.PORT_HELP)


@click.command("serve", help=texts.SERVE_HELP)
@_port
@click.option("--json", is_flag=True, expose_value=False, help=texts.JSON_HELP)
@coloured
@click.pass_obj
def serve_verb(shell: Shell, port: int | None) -> int:
    """On a terminal the log is written there too; a service's log is in the home alone."""
    return shell.serve(shell.home, port=port, log_to_stderr=sys.stderr.isatty())


@click.command("start", help=texts.START_HELP)
@_port
@click.option("--anew", is_flag=True, help=texts.ANEW_HELP)
@printing
def start_verb(shell: Shell, port: int | None, *, anew: bool, as_json: bool) -> None:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        health = daemon_process.health_of(client)
        address = None if health is None else client.address
    if address is None:
        if anew:
            daemon_process.allow_beginning_anew(shell.home)
        _start(shell, port, as_json=as_json)
    elif as_json:
        shell.print_json({"address": address, "started": False})
    else:
        shell.print([_line(shell, "ok", texts.ALREADY, address)])
        assert health is not None
        if said := builds.note(health["version"], health.get("build", "")):
            shell.say([f"{shell.err.mark('warning')} {said}"])


@click.command("stop", help=texts.STOP_HELP)
@printing
def stop_verb(shell: Shell, as_json: bool) -> None:
    # Before the signal: a hook that comes in between must not start it again.
    daemon_process.forbid_starts_by_hooks(shell.home)
    seconds = _stop(shell)
    if as_json:
        shell.print_json({"stopped": seconds is not None})
    elif seconds is None:
        shell.print([_line(shell, "none", texts.NOT_RUNNING, "")])
    else:
        shell.print([_line(shell, "ok", texts.STOPPED, texts.STOPPED_IN.format(time=duration(seconds)))])


@click.command("restart", help=texts.RESTART_HELP)
@_port
@printing
def restart_verb(shell: Shell, port: int | None, as_json: bool) -> None:
    _end_for_another(shell, port)
    _start(shell, port, as_json=as_json)


def restart_daemon(shell: Shell) -> tuple[str, float]:
    """Stop it and start it again, as ``start_daemon`` does; where the next one could not start, nothing is stopped."""
    _end_for_another(shell, None)
    return start_daemon(shell)


def _end_for_another(shell: Shell, port: int | None) -> None:
    _insist_on_start(shell, port)
    _stop(shell)


def _insist_on_start(shell: Shell, port: int | None) -> None:
    """See that the next daemon can start before the one that runs is stopped.

    Raises:
      ConfigError: the home or the settings are wrong.
      Failed: the port is another's.
    """
    service = _service_for(shell, port)
    environment = shell.environment if service is None else {}  # a service gets no settings of ours from here
    try:
        shell.open_maintenance().insist_on_start(shell.home, environment, port=port)
    except PortTaken as error:
        raise Failed(str(error), hint=texts.RESTART_ELSEWHERE) from error


def _start(shell: Shell, port: int | None, *, as_json: bool) -> None:
    address, seconds = start_daemon(shell, port, as_json=as_json)
    if as_json:
        shell.print_json({"address": address, "started": True, "seconds": round(seconds, 3)})
        return
    answers_at = texts.ANSWERS_AT.format(address=address, time=duration(seconds))
    shell.print([_line(shell, "ok", texts.ANSWERS, answers_at)])


def start_daemon(shell: Shell, port: int | None = None, *, as_json: bool = False) -> tuple[str, float]:
    """Start it where none runs: by its service where one is installed and no port is given.

    Returns: its address, and the seconds until it answered.

    Raises:
      ServiceError: the service could not be started.
      KiroLearnError: as ``daemon_process.start``.
    """
    arguments = [] if port is None else ["--port", str(port)]
    arguments += ["--json"] if as_json else []
    service = _service_for(shell, port)
    with start_shown(shell, is_wanted=not as_json) as tell:
        if service is not None:
            service.start()
            return daemon_process.wait_for_answer(shell.home, tell=tell, problem=service_texts.TOO_SLOW)
        return daemon_process.start(shell.home, shell.environment, serve_arguments=arguments, tell=tell)


def _service_for(shell: Shell, port: int | None) -> Autostart | None:
    """The service that starts the daemon; None where none is installed, or ``port`` is not its settings'."""
    autostart = autostart_of(shell) if port is None else None
    return autostart if autostart is not None and autostart.is_installed else None


def _stop(shell: Shell) -> float | None:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        return daemon_process.stop(client)


def _line(shell: Shell, mark: str, what: str, fact: str) -> str:
    return f"{shell.out.mark(mark)} {what:{COLUMN}}{fact}".rstrip()
