"""The verb status: shows the status once, or again and again."""

from __future__ import annotations

import contextlib
import shutil
import time
from datetime import UTC, datetime
from typing import Any

import click

from kiro_learn.client.address import DaemonUnreachable
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import projects, status_screen
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Shell

PATIENCE_SECONDS = 2.0
WATCH_SECONDS = 2.0
CLEAR = "\x1b[H\x1b[2J"


@click.command("status")
@click.option("--watch", is_flag=True, help="Show it again every 2 seconds.")
@printing
def status_verb(shell: Shell, watch: bool) -> int:
    """Show the state of the daemon and its memory."""
    with shell.client(patience_seconds=PATIENCE_SECONDS) as client:
        while True:
            code = _say(shell, client, clear=watch and shell.out.has_colours)
            if not watch:
                return code
            time.sleep(WATCH_SECONDS)


def _say(shell: Shell, client: Client, *, clear: bool) -> int:
    try:
        status = client.status()
    except DaemonUnreachable as error:
        if shell.as_json:
            raise
        stopped = status_screen.stopped(_last_seen(shell), _spooled_count(shell), shell.now(), shell.out)
        _print(shell, stopped, clear=clear)
        shell.hint(error.hint)
        return 1
    database_bytes = sum(path.stat().st_size for path in shell.home.glob("kiro-learn.db*"))
    place = status_screen.HomeFacts(shell.tilde(shell.home), database_bytes, _free_bytes(shell))
    if shell.as_json:
        shell.print_json(status)
    else:
        _print(shell, _running_lines(shell, client, status, place), clear=clear)
    return 1 if place.is_full else 0


def _print(shell: Shell, lines: list[str], *, clear: bool) -> None:
    if clear:
        click.echo(CLEAR, nl=False)
    shell.print(lines)


def _running_lines(shell: Shell, client: Client, status: dict[str, Any], place: status_screen.HomeFacts) -> list[str]:
    if status.get("pauses"):
        names = {each.namespace: each.name for each in projects.all_of(client)}
        for pause in status["pauses"]:
            pause["project"] = names.get(pause["namespace"], pause["namespace"])
    return status_screen.running(status, client.address, place, shell.now(), shell.out)


def _free_bytes(shell: Shell) -> int | None:
    with contextlib.suppress(OSError):
        return shutil.disk_usage(shell.home).free
    return None


def _spooled_count(shell: Shell) -> int:
    return sum(not path.name.startswith(".") for path in (shell.home / "spool").glob("*"))


def _last_seen(shell: Shell) -> datetime | None:
    """When the daemon last wrote to its log; None if it never did."""
    with contextlib.suppress(OSError):
        logs = [path for path in (shell.home / "logs").iterdir() if path.name != "daemon.stderr"]
        if logs:
            return datetime.fromtimestamp(max(path.stat().st_mtime for path in logs), UTC)
    return None
