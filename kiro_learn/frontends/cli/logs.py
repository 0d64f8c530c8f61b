"""logs: what the daemon wrote about its doings, and what it writes now."""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import click

from kiro_learn.frontends.cli import config_texts
from kiro_learn.frontends.cli.log_files import Tail, follow
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Failed, Shell

LINES = 20
MOST_LINES = 100_000
LOOK_AGAIN_SECONDS = 0.5
LEVEL_COLUMN = 8
_SHOWN_APART = ("timestamp", "level", "event")


@click.command("logs", help=config_texts.LOGS_HELP)
@click.option("-n", "--lines", "count", type=click.IntRange(0, MOST_LINES), default=LINES, help=config_texts.LINES_HELP)
@click.option("-f", "--follow", "is_following", is_flag=True, help=config_texts.FOLLOW_HELP)
@printing
def logs_verb(shell: Shell, *, count: int, is_following: bool, as_json: bool) -> None:
    folder = shell.home / "logs"
    if not any(folder.glob("daemon.jsonl*")):
        raise Failed(config_texts.NO_LOG.format(path=shell.tilde(folder)), hint="kiro-learn start")
    with Tail(folder / "daemon.jsonl") as tail:
        _print(shell, tail.last(count), as_json=as_json)
        if is_following:
            for line in follow(tail, lambda: _is_read_after_a_while(shell)):
                _print(shell, [line], as_json=as_json)


def _is_read_after_a_while(shell: Shell) -> bool:
    """Whether standard output is still read. Where its reader closes the pipe, that ends the waiting too."""
    if shell.out.is_interactive:  # not every system polls terminals, and one that is gone ends us by a signal
        time.sleep(LOOK_AGAIN_SECONDS)
        return True
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return not poll.poll(LOOK_AGAIN_SECONDS * 1000)


def _print(shell: Shell, lines: Iterable[bytes], *, as_json: bool) -> None:
    texts = (line.decode("utf-8", "replace") for line in lines)
    shell.print(texts if as_json else (_shown(shell, text) for text in texts))


def _shown(shell: Shell, line: str) -> str:
    """A line of ours for people; another one as it is."""
    try:
        said = json.loads(line)
        when = datetime.fromisoformat(said["timestamp"]).astimezone()
        level, event = str(said["level"]), str(said["event"])
    except (ValueError, LookupError, TypeError):
        return line
    level = f"{level:{LEVEL_COLUMN}}"
    shown = shell.out.error(level) if said["level"] in {"error", "critical"} else level
    return f"{shell.out.dim(f'{when:%Y-%m-%d %H:%M:%S}')} {shown}{shell.out.bold(event)}{_details(said)}"


def _details(said: Mapping[str, Any]) -> str:
    rest = ((name, value) for name, value in said.items() if name not in _SHOWN_APART)
    return "".join(f" {name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in rest)
