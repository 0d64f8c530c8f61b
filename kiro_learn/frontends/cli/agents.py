"""The verbs hook and mcp, which agents call."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from kiro_learn.client import hook
from kiro_learn.frontends.cli.shell import Shell


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("agent_and_event", nargs=-1)
@click.pass_obj
def hook_verb(shell: Shell, agent_and_event: tuple[str, ...]) -> NoReturn:
    """Send the event of an agent's hook to the daemon. Agents call this; it always exits with 0."""
    # An agent must never fail because of its hook, so no argument is wrong.
    shim = str(Path(hook.__file__))
    arguments = [sys.executable, "-I", "-S", "-E", shim, str(shell.home), *agent_and_event[:2]]
    os.execv(sys.executable, arguments)  # noqa: S606  # this interpreter, our own file


@click.command("mcp")
@click.option(
    "--project",
    default=None,
    help="The project: a folder in it, its name or its id. Default: KIRO_LEARN_PROJECT, then this folder.",
)
@click.option("--no-start", is_flag=True, help="Do not start a daemon if none runs; answer with an error.")
@click.pass_obj
def mcp_verb(shell: Shell, project: str | None, no_start: bool) -> int:
    """Serve the memory to an agent by MCP.

    Agents start this command. It speaks the Model Context Protocol on standard input and output.
    """
    from kiro_learn.frontends.mcp.stdio import serve  # noqa: PLC0415  # hooks do not need it

    return serve(shell.home, shell.environment, project=project, starts_daemon=not no_start)
