"""The verbs by name; each is imported only when it is called, so that no verb waits for the imports of another."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import Any

import click

from kiro_learn.client.building import AnswerNotUnderstood
from kiro_learn.frontends.cli import front_page
from kiro_learn.frontends.cli.command import is_of_newer_daemon, say_build
from kiro_learn.frontends.cli.options import coloured
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.model.version import __version__

PROGRAM = "kiro-learn"

VERBS = {
    "demo": "demo",
    "init": "install",
    "install": "install",
    "uninstall": "install",
    "start": "daemon_verbs",
    "stop": "daemon_verbs",
    "restart": "daemon_verbs",
    "serve": "daemon_verbs",
    "service": "daemon_verbs",
    "status": "status",
    "ui": "ui",
    "doctor": "doctor",
    "logs": "logs",
    "config": "config",
    "search": "search",
    "memories": "memories",
    "forget": "forget",
    "projects": "project_verbs",
    "pause": "project_verbs",
    "resume": "project_verbs",
    "context": "context",
    "timeline": "activity",
    "sessions": "activity",
    "report": "activity",
    "observe": "observe",
    "knowledge": "observe",
    "entities": "graph",
    "facts": "graph",
    "procedures": "graph",
    "preferences": "graph",
    "conflicts": "conflicts",
    "flush": "learn",
    "import": "importing",
    "relearn": "learn",
    "retention": "forget",
    "storage": "backup",
    "share": "share",
    "backup": "backup",
    "restore": "backup",
    "export": "export",
    "embeddings": "learn",
    "backfill": "learn",
    "hook": "agents",
    "mcp": "agents",
    "completion": "help",
    "help": "help",
}
"""The verbs in the order of help, each with the module in this folder that has it under its own name."""


ASKING = frozenset(
    {
        *("search", "memories", "context", "timeline", "sessions", "report", "observe", "knowledge", "entities"),
        *("facts", "procedures", "preferences", "conflicts", "flush", "relearn", "retention", "embeddings", "backfill"),
    }
)
"""Verbs that the daemon answers. The others report by themselves which build the daemon is, or do not need it."""


class Verbs(click.Group):
    """A group that imports a verb when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"{__package__}.{VERBS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_verb")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise _unknown(args[0])
        return super().resolve_command(ctx, args)


def _unknown(name: str) -> Failed:
    close = difflib.get_close_matches(name, VERBS, n=1)
    if close:
        return Failed(f'unknown command "{name}" \N{MIDDLE DOT} did you mean: {PROGRAM} {close[0]}', exit_code=2)
    return Failed(f'unknown command "{name}"', hint=f"{PROGRAM} help", exit_code=2)


@click.group(cls=Verbs, name=PROGRAM, invoke_without_command=True, context_settings={"max_content_width": 80})
@coloured
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Memory for coding agents, local."""
    if context.invoked_subcommand is None:
        front_page.show(context.obj)


def invoke(arguments: Sequence[str], shell: Shell) -> int:
    """Do what ``arguments`` ask; returns the exit code.

    Raises:
      KiroLearnError: it could not be done.
      KeyboardInterrupt: the user interrupted it.
    """
    try:
        result: Any = program.main(list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=shell)
    except AnswerNotUnderstood as error:
        if not is_of_newer_daemon(shell):
            raise
        hint = "This command is older than the daemon. Update it as docs/update.md says."
        raise Failed(str(error), hint=hint) from error
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        raise Failed(_sentence(error), hint=f"{path} --help", exit_code=2) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    if ASKING.intersection(arguments[:1]) and "--json" not in arguments:
        say_build(shell)
    return result if isinstance(result, int) else 0


def _sentence(error: click.UsageError) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    return text[:1].lower() + text[1:]
