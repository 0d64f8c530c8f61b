"""backup now, list, verify, and restore: they need no daemon, and mind none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import backup_screen, backup_texts, daemon_process
from kiro_learn.frontends.cli.daemon_verbs import start_daemon
from kiro_learn.frontends.cli.options import ListsAlone, printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.services.copies import Copies, ListedCopy, Restoration


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


# restore: a copy in the place of the database, while no daemon runs.


@click.command("restore", help=backup_texts.RESTORE_HELP)
@click.argument("copy", default="", required=False, metavar="[COPY]")
@click.option("--yes", is_flag=True, help=backup_texts.RESTORE_YES_HELP)
@printing
def restore_verb(shell: Shell, copy: str, *, yes: bool, as_json: bool) -> None:
    copies = copies_of(shell)
    plan = copies.plan(copy)
    if not yes:
        shell.say(backup_screen.plan(plan, shell.now(), shell.err))
    if not shell.confirm(backup_texts.QUESTION, flag_given=yes):
        raise Failed(backup_texts.NOTHING_DONE)
    replaced, address = _restored(shell, copies, plan, as_json=as_json)
    if as_json:
        shell.print_json(_as_value(plan, replaced, address))
        return
    shell.print(backup_screen.restored(plan, replaced, shell.out))
    if address:
        shell.print([f"  {backup_texts.STARTED}: {address}"])


def _restored(shell: Shell, copies: Copies, plan: Restoration, *, as_json: bool) -> tuple[Path | None, str]:
    """Where what it replaced is, and where a daemon that had to be stopped for it answers again."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        was_running = daemon_process.is_there(client)
        if was_running:
            # Before the signal: a hook that comes in between must not start it again.
            daemon_process.forbid_starts_by_hooks(shell.home)
            daemon_process.stop(client)
    try:
        replaced = copies.restore(plan)
    except KiroLearnError:
        if was_running:
            with suppress(KiroLearnError):  # what went wrong first is what is told
                start_daemon(shell, as_json=as_json)
        raise
    return replaced, start_daemon(shell, as_json=as_json)[0] if was_running else ""


def _as_value(plan: Restoration, replaced: Path | None, address: str) -> dict[str, object]:
    newer = plan.newer
    return {
        "restored": as_value(plan.found),
        "newer": {"events": newer.event_count, "memories": newer.memory_count, "problem": newer.problem},
        "replaced": None if replaced is None else str(replaced),
        "address": address,
    }
