"""serve, start, stop, restart."""

from __future__ import annotations

import sys

import click

from kiro_learn.frontends.cli import daemon_process, texts
from kiro_learn.frontends.cli.amounts import duration
from kiro_learn.frontends.cli.options import coloured, printing
from kiro_learn.frontends.cli.progress import upgrade_shown
from kiro_learn.frontends.cli.shell import Shell

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
@printing
def start_verb(shell: Shell, port: int | None, as_json: bool) -> None:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        address = client.address if daemon_process.answers(client) else None
    if address is None:
        _start(shell, port, as_json=as_json)
    elif as_json:
        shell.print_json({"address": address, "started": False})
    else:
        shell.print([_line(shell, "ok", texts.ALREADY, address)])


@click.command("stop", help=texts.STOP_HELP)
@printing
def stop_verb(shell: Shell, as_json: bool) -> None:
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
    _stop(shell)
    _start(shell, port, as_json=as_json)


def _start(shell: Shell, port: int | None, *, as_json: bool) -> None:
    arguments = [] if port is None else ["--port", str(port)]
    arguments += ["--json"] if as_json else []
    with upgrade_shown(shell, is_wanted=not as_json) as tell:
        address, seconds = daemon_process.start(shell.home, shell.environment, serve_arguments=arguments, tell=tell)
    if as_json:
        shell.print_json({"address": address, "started": True, "seconds": round(seconds, 3)})
        return
    answers_at = texts.ANSWERS_AT.format(address=address, time=duration(seconds))
    shell.print([_line(shell, "ok", texts.ANSWERS, answers_at)])


def _stop(shell: Shell) -> float | None:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        return daemon_process.stop(client)


def _line(shell: Shell, mark: str, what: str, fact: str) -> str:
    return f"{shell.out.mark(mark)} {what:{COLUMN}}{fact}".rstrip()
