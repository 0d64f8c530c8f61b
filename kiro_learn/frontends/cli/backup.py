"""backup now, list, verify: they need no daemon, and mind none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kiro_learn.frontends.cli import backup_screen, backup_texts
from kiro_learn.frontends.cli.options import ListsAlone, printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.services.backups import Copies, ListedCopy


@click.group("backup", cls=ListsAlone, help=backup_texts.HELP)
def backup_verb() -> None:
    """Only a name for those inside."""


@backup_verb.command("now", help=backup_texts.NOW_HELP)
@printing
def now_verb(shell: Shell, as_json: bool) -> None:
    made = copies_of(shell).take()
    if as_json:
        shell.print_json(as_value(made))
    else:
        shell.print(backup_screen.made(made, shell.out))


@backup_verb.command("list", help=backup_texts.LIST_HELP)
@printing
def list_verb(shell: Shell, as_json: bool) -> None:
    found = copies_of(shell).listed()
    if as_json:
        shell.print_json({"items": [as_value(each) for each in found]})
    else:
        shell.print(backup_screen.listed(found, shell.now(), shell.out))


@backup_verb.command("verify", help=backup_texts.VERIFY_HELP)
@click.argument("copies", nargs=-1, metavar="[COPY]...")
@printing
def verify_verb(shell: Shell, copies: Sequence[str], as_json: bool) -> None:
    found = copies_of(shell).verify(copies)
    if as_json:
        shell.print_json({"items": [as_value(each) for each in found]})
    else:
        shell.print(backup_screen.listed(found, shell.now(), shell.out, is_checked=True))
    if bad := sum(backup_screen.is_bad(each) for each in found):
        raise Failed(backup_screen.bad(bad), hint=backup_texts.BAD_HINT)


def copies_of(shell: Shell) -> Copies:
    """The copies of the home that is meant."""
    return shell.open_maintenance().open_copies(shell.home, shell.environment)


def as_value(listed: ListedCopy) -> dict[str, Any]:
    """As JSON has it."""
    copy, contents = listed.copy, listed.contents
    return {
        "name": copy.name,
        "path": str(copy.path),
        "kind": copy.kind.value,
        "made_at": copy.made_at.isoformat(),
        "bytes": copy.bytes,
        "events": contents.event_count,
        "memories": contents.memory_count,
        "problem": contents.problem,
    }
