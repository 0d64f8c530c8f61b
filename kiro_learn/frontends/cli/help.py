"""help: what the commands do."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell

COLUMN = 18


@click.command("help", help=texts.HELP_HELP)
@click.option("--all", "show_all", is_flag=True, help=texts.HELP_ALL_HELP)
@click.pass_context
def help_verb(context: click.Context, show_all: bool) -> None:
    shell: Shell = context.obj
    parent = context.find_root()
    assert isinstance(parent.command, click.Group)
    verbs = list(_verbs(parent.command, parent, inside=show_all))
    shell.print([f"{shell.out.command(f'{name:{COLUMN}}')}{purpose}" for name, purpose in verbs])


def _verbs(group: click.Group, context: click.Context, *, inside: bool, before: str = "") -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command.get_short_help_str(limit=60)
        if inside and isinstance(command, click.Group):
            yield from _verbs(command, context, inside=inside, before=f"{before}{name} ")
