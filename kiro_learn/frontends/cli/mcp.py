"""mcp: the Model Context Protocol on standard input and output."""

from __future__ import annotations

import click

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.mcp.stdio import serve


@click.command("mcp", help=texts.MCP_HELP)
@click.option("--project", default=None, help=texts.MCP_PROJECT_HELP)
@click.option("--no-start", is_flag=True, help=texts.MCP_NO_START_HELP)
@click.pass_obj
def mcp_verb(shell: Shell, project: str | None, no_start: bool) -> int:
    return serve(shell.home, shell.environment, project=project, starts_daemon=not no_start)
