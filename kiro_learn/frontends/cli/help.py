"""help: what the commands do."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell

COLUMN = 18
GAP = 2
"""Between the longest command and what it does."""


@click.command("help", help=texts.HELP_HELP)
@click.argument("command_names", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "show_all", is_flag=True, help=texts.HELP_ALL_HELP)
@click.pass_context
def help_verb(context: click.Context, command_names: tuple[str, ...], show_all: bool) -> None:
    shell: Shell = context.obj
    parent = context.find_root()
    assert isinstance(parent.command, click.Group)
    if command_names:
        named = _named(parent, command_names)
        shell.print(named.get_help().splitlines())
        return
    verbs = list(_verbs(parent.command, parent, inside=show_all))
    column = max(COLUMN, GAP + max(len(name) for name, _ in verbs))
    shell.print([f"{shell.out.command(f'{name:{column}}')}{purpose}" for name, purpose in verbs])


def _named(context: click.Context, names: tuple[str, ...]) -> click.Context:
    """The context of the command that ``names`` lead to, from group to group.

    Raises:
      UsageError: there is no such command.
    """
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(texts.NO_SUCH_COMMAND.format(name=name), context)
        _, command, _ = group.resolve_command(context, [name])
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    return context


def _verbs(group: click.Group, context: click.Context, *, inside: bool, before: str = "") -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command.get_short_help_str(limit=60)
        if inside and isinstance(command, click.Group):
            yield from _verbs(command, context, inside=inside, before=f"{before}{name} ")
