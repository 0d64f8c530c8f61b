"""The verbs help and completion: what the commands do, and what a shell reads to complete them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from kiro_learn.frontends.cli.command import COMPLETION_VARIABLE
from kiro_learn.frontends.cli.options import coloured
from kiro_learn.frontends.cli.shell import Failed, Shell

COLUMN = 18
GAP = 2
"""The gap between the longest command and its description."""


@click.command("help")
@click.argument("command_names", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "show_all", is_flag=True, help="Also show the commands inside commands.")
@click.pass_context
def help_verb(context: click.Context, command_names: tuple[str, ...], show_all: bool) -> None:
    """Show what all commands do, or one of them."""
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
    """The context of the command that ``names`` name, from group to group.

    Raises:
      UsageError: there is no such command.
    """
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"no such command '{name}'", context)
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


# What bash, zsh and fish read to complete our commands. Click generates it, and answers its questions.

PROGRAM = "kiro-learn"

LOADED_NOW = "$zsh_eval_context[-1] == loadautofunc"
CALLED_BY_ZSH = f"$funcstack[1] == _{PROGRAM}"


@click.command("completion")
@click.argument("shell_name", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@click.option("--install", "is_installing", is_flag=True, help="Put it into the file that the shell reads.")
@coloured
@click.pass_context
def completion_verb(context: click.Context, shell_name: str, is_installing: bool) -> None:
    """Have your shell complete commands and names.

    Prints what the shell has to read, or puts it where the shell finds it.
    """
    shell: Shell = context.obj
    kind = get_completion_class(shell_name)
    assert kind is not None
    script = kind(context.find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source()
    # With Click's own test, every second press of the key only registers the function again and completes nothing.
    script = script.replace(LOADED_NOW, CALLED_BY_ZSH)
    if not is_installing:
        shell.print(script.splitlines())
        return
    path = _place_of(shell, shell_name)
    _write(path, script)
    shown = f"{shell.tilde(path)} \N{MIDDLE DOT} from the next {shell_name} on"
    shell.print([f"{shell.out.mark('ok')} {shown}"])
    if shell_name == "zsh":
        shell.print([f"Above compinit in ~/.zshrc: fpath=({shell.tilde(path.parent)} $fpath)"])


def _place_of(shell: Shell, shell_name: str) -> Path:
    """The file that the shell reads when our command is first completed; for zsh, users have no usual one."""
    data = Path(shell.environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    config = Path(shell.environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / PROGRAM,
        "zsh": data / "zsh" / "site-functions" / f"_{PROGRAM}",
        "fish": config / "fish" / "completions" / f"{PROGRAM}.fish",
    }[shell_name]


def _write(path: Path, script: str) -> None:
    """Write the script. Raises Failed: the file is not ours, or cannot be written."""
    try:
        if path.exists() and COMPLETION_VARIABLE not in path.read_text(encoding="utf-8", errors="replace"):
            raise Failed(f"{path} exists, and this program did not write it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from error
