"""What the bare command shows: whether it runs, and what there is to do."""

from __future__ import annotations

from typing import Any

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import RequestRefused
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, memories, spread
from kiro_learn.model.version import __version__

WIDTH = 78
PATIENCE_SECONDS = 0.05
"""The page is to stand within 150 ms, whatever the daemon does."""

COLUMN = 12
VERB_COLUMN = 12


def show(shell: Shell) -> None:
    shell.print(page(_state(shell), shell.out))


def page(state: str, terminal: Terminal) -> list[str]:
    """The page; ``state`` is the line about the daemon."""
    version = texts.VERSION.format(version=__version__)
    return [
        *texts.FRONT_PAGE_HEAD,
        spread(
            f"  {state}", version, WIDTH, painted_left=f"  {terminal.bold(state)}", painted_right=terminal.dim(version)
        ),
        "",
        *_verbs(terminal),
        _more(terminal),
    ]


def _state(shell: Shell) -> str:
    try:
        with shell.client(patience_seconds=PATIENCE_SECONDS) as client:
            return running(client.status())
    except DaemonUnreachable:
        known = shell.home.exists()
        text, verb = (texts.FRONT_PAGE_STOPPED, "start") if known else (texts.FRONT_PAGE_NEW, "demo")
        return text.format(command=f"kiro-learn {verb}")
    except (DaemonSilent, RequestRefused):
        return texts.FRONT_PAGE_SILENT.format(command="kiro-learn status")


def running(status: dict[str, Any]) -> str:
    counts = status["counts"]
    return texts.FRONT_PAGE_RUNNING.format(
        memories=memories(counts["total_memories"]),
        projects=counted(counts["total_projects"], *texts.PROJECTS),
        retrievals=counted(status["recall"]["asked"], *texts.RETRIEVALS),
    )


def _verbs(terminal: Terminal) -> list[str]:
    lines = []
    for heading, verbs in texts.FRONT_PAGE_VERBS:
        for position, (name, purpose) in enumerate(verbs):
            title = f"{heading if position == 0 else '':{COLUMN}}"
            lines.append(f"{terminal.bold(title)}{terminal.command(f'{name:{VERB_COLUMN}}')}{purpose}")
    return lines


def _more(terminal: Terminal) -> str:
    heading, *commands = texts.FRONT_PAGE_MORE
    return terminal.bold(f"{heading:{COLUMN}}") + texts.DOT.join(terminal.command(each) for each in commands)
