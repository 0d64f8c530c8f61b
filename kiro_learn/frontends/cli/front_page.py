"""The output of the command without arguments: whether the daemon runs, and what can be done."""

from __future__ import annotations

from typing import Any

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import RequestRefused
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, memories, spread
from kiro_learn.model.version import __version__

VERBS = (
    ("Start", (("demo", "see what it does, in a temporary folder"), ("init", "connect your agents"))),
    (
        "Look",
        (
            ("search", "find memories"),
            ("memories", "list, show, undo, forget"),
            ("context", "what a session is told at its start"),
            ("ui", "open the viewer"),
        ),
    ),
    (
        "Care",
        (
            ("status", "the state of the daemon"),
            ("doctor", "what is wrong, and how to mend it"),
            ("flush", "learn now from waiting events"),
        ),
    ),
)
MORE = ("More", "kiro-learn help --all", "kiro-learn <command> --help")

WIDTH = 78
PATIENCE_SECONDS = 0.05
"""The page must be printed within 150 ms, whatever the daemon does."""

COLUMN = 12
VERB_COLUMN = 12


def show(shell: Shell) -> None:
    shell.print(page(_state(shell), shell.out))


def page(state: str, terminal: Terminal) -> list[str]:
    """The page; ``state`` is the line about the daemon."""
    version = f"v{__version__}"
    return [
        "Memory for coding agents, on this machine. Nothing leaves it, unless memories",
        "are written by a model that runs elsewhere, such as that of Kiro CLI.",
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
        if shell.home.exists():
            return "Not running \N{MIDDLE DOT} kiro-learn start"
        return "Not set up \N{MIDDLE DOT} try: kiro-learn demo"
    except (DaemonSilent, RequestRefused):
        return "Running, but it did not answer at once \N{MIDDLE DOT} kiro-learn status"


def running(status: dict[str, Any]) -> str:
    counts = status["counts"]
    known = f"{memories(counts['total_memories'])} in {counted(counts['total_projects'], *texts.PROJECTS)}"
    asked = f"{counted(status['recall']['asked'], 'retrieval', 'retrievals')} since its start"
    return texts.DOT.join(("Running", known, asked))


def _verbs(terminal: Terminal) -> list[str]:
    lines = []
    for heading, verbs in VERBS:
        for position, (name, purpose) in enumerate(verbs):
            title = f"{heading if position == 0 else '':{COLUMN}}"
            lines.append(f"{terminal.bold(title)}{terminal.command(f'{name:{VERB_COLUMN}}')}{purpose}")
    return lines


def _more(terminal: Terminal) -> str:
    heading, *commands = MORE
    return terminal.bold(f"{heading:{COLUMN}}") + texts.DOT.join(terminal.command(each) for each in commands)
