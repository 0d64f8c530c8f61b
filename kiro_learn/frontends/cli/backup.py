"""The verbs backup, restore and storage: copies of the memory, and the place where the memory is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import click

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import daemon_process, texts
from kiro_learn.frontends.cli.daemon_verbs import start_daemon
from kiro_learn.frontends.cli.options import ListsAlone, printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, ago, counted, events, memories, plain, size
from kiro_learn.services.copies import Copies, ListedCopy, Restoration

KINDS = {
    "daily": "daily",
    "asked": "asked for",
    "upgrade": "before an upgrade",
    "replaced": "replaced by a copy",
    "damaged": "damaged, put aside",
    "other": "not made by kiro-learn",
}


@click.group("backup", cls=ListsAlone)
def backup_verb() -> None:
    """Make, list or check copies of the memory."""


@backup_verb.command("now")
@printing
def now_verb(shell: Shell) -> None:
    """Make a copy now, and check it; the daemon may run."""
    made = copies_of(shell).take()
    shell.answer(as_value(made), lambda: _made_lines(made, shell.out))


@backup_verb.command("list")
@printing
def list_verb(shell: Shell) -> None:
    """List the copies, newest first, with what each holds."""
    found = copies_of(shell).listed()
    shell.answer({"items": [as_value(each) for each in found]}, lambda: _listed_lines(found, shell.now(), shell.out))


@backup_verb.command("verify")
@click.argument("copies", nargs=-1, metavar="[COPY]...")
@printing
def verify_verb(shell: Shell, copies: Sequence[str]) -> None:
    """Check every copy, or the named ones, from end to end."""
    found = copies_of(shell).verify(copies)
    shell.answer(
        {"items": [as_value(each) for each in found]},
        lambda: _listed_lines(found, shell.now(), shell.out, is_checked=True),
    )
    if bad := sum(_is_bad(each) for each in found):
        raise Failed(f"{counted(bad, 'copy', 'copies')} cannot be used", hint="kiro-learn backup now")


def copies_of(shell: Shell) -> Copies:
    """The copies of the home of this call."""
    return shell.open_maintenance().open_copies(shell.home, shell.environment)


def as_value(listed: ListedCopy) -> dict[str, Any]:
    """The copy as JSON."""
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


# restore: puts a copy in the place of the database, while no daemon runs.


@click.command("restore")
@click.argument("copy", default="", required=False, metavar="[COPY]")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def restore_verb(shell: Shell, copy: str, *, yes: bool) -> None:
    """Replace the memory by a copy.

    Without a name, the newest sound copy is used. A running daemon is stopped
    first, and started again afterwards. The replaced memory is kept among the
    copies.
    """
    copies = copies_of(shell)
    plan = copies.plan(copy)
    if not yes:
        shell.say_before_asking(_plan_lines(plan, shell.now(), shell.err))
    if not shell.confirm("Replace the memory by this copy?", flag_given=yes):
        raise Failed("nothing was changed")
    replaced, address = _restored(shell, copies, plan)
    answers = [f"  The daemon answers again: {address}"] if address else []
    shell.answer(_as_value(plan, replaced, address), lambda: [*_restored_lines(plan, replaced, shell.out), *answers])


def _restored(shell: Shell, copies: Copies, plan: Restoration) -> tuple[Path | None, str]:
    """Where the replaced store is now, and the address of the daemon if one had to be restarted; else empty."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        was_running = daemon_process.is_there(client)
        if was_running:
            # Before the signal: a hook that runs in between must not start the daemon again.
            daemon_process.forbid_starts_by_hooks(shell.home)
            daemon_process.stop(client)
    try:
        replaced = copies.restore(plan)
    except KiroLearnError:
        if was_running:
            with suppress(KiroLearnError):  # the first error is reported
                start_daemon(shell)
        raise
    return replaced, start_daemon(shell)[0] if was_running else ""


def _as_value(plan: Restoration, replaced: Path | None, address: str) -> dict[str, object]:
    newer = plan.newer
    return {
        "restored": as_value(plan.found),
        "newer": {"events": newer.event_count, "memories": newer.memory_count, "problem": newer.problem},
        "replaced": None if replaced is None else str(replaced),
        "address": address,
    }


# Copies as lines.

COLUMN = 6
DAMAGED = "damaged"
"""The kind of a copy of a damaged database, which need not be sound."""


def _made_lines(found: ListedCopy, terminal: Terminal) -> list[str]:
    """The lines for a copy that was made now."""
    facts = texts.DOT.join(("Copied and checked", *_holds(found), size(found.copy.bytes)))
    return [f"{terminal.mark('ok')} {facts}", f"  {terminal.dim(str(found.copy.path))}"]


def _listed_lines(
    found: Sequence[ListedCopy], now: datetime, terminal: Terminal, *, is_checked: bool = False
) -> list[str]:
    """Two lines for each copy, and the sum."""
    if not found:
        return [f"{terminal.mark('none')} There is no copy yet; the daemon makes one a day"]
    lines = [line for each in found for line in _copy(each, now, terminal, is_checked=is_checked)]
    total = size(sum(each.copy.bytes for each in found))
    copies = counted(len(found), "copy", "copies")
    return [*lines, f"{copies}, {total}"]


def _copy(found: ListedCopy, now: datetime, terminal: Terminal, *, is_checked: bool) -> list[str]:
    mark = "wrong" if _is_bad(found) else "ok" if is_checked and not found.contents.problem else "none"
    holds = (found.contents.problem,) if found.contents.problem else _holds(found)
    sound = ("sound",) if is_checked and not found.contents.problem else ()
    kind = KINDS[found.copy.kind.value]
    facts = texts.DOT.join((ago(found.copy.made_at, now), kind, *sound, *holds, size(found.copy.bytes)))
    return [f"{terminal.mark(mark)} {terminal.bold(found.copy.name)}", f"    {facts}"]


def _holds(found: ListedCopy) -> tuple[str, str]:
    return memories(found.contents.memory_count), events(found.contents.event_count)


def _is_bad(found: ListedCopy) -> bool:
    """Whether the copy is not sound and should be."""
    return bool(found.contents.problem) and found.copy.kind.value != DAMAGED


def _plan_lines(found: Restoration, now: datetime, terminal: Terminal) -> list[str]:
    """What a restore would do."""
    copy, newer = found.found.copy, found.newer
    lost = "nothing: the copy holds all there is"
    if newer.problem:
        lost = f"what is newer than the copy is unknown: {newer.problem}"
    elif newer.event_count or newer.memory_count:
        lost = f"{memories(newer.memory_count)} and {events(newer.event_count)} that are newer than the copy"
    facts = texts.DOT.join((copy.name, ago(copy.made_at, now), *_holds(found.found)))
    rows = (("from", facts), ("lost", lost), ("kept", "what is replaced, among the copies; see kiro-learn backup list"))
    return [f"  {terminal.bold(f'{name:{COLUMN}}')}{said}" for name, said in rows]


def _restored_lines(found: Restoration, replaced: Path | None, terminal: Terminal) -> list[str]:
    """The lines after a restore."""
    facts = texts.DOT.join(("Restored", *_holds(found.found)))
    kept = [] if replaced is None else [f"  what it replaced: {replaced}"]
    return [f"{terminal.mark('ok')} {facts}", *kept]


# storage: where the memory is kept, whether a daemon can use it there, and moving it.


@click.group("storage", no_args_is_help=False)
def storage_verb() -> None:
    """Show or change where the memory is stored."""


@storage_verb.command("check")
@printing
def check_verb(shell: Shell) -> int:
    """Show which database is used, and whether a daemon can use it. Changes nothing."""
    found = shell.open_maintenance().look_at_server(shell.home, shell.environment)
    if shell.as_json:
        shell.print_json({} if found is None else attrs.asdict(found))
    elif found is None:
        place = f"The memory is a file in {shell.tilde(shell.home)}; kiro-learn doctor checks it"
        shell.print([f"{shell.out.mark('ok')} {place}"])
    elif found.problem:
        raise Failed(found.problem, hint=found.hint)
    else:
        parts = [plain(found.name), f"PostgreSQL {plain(found.server_version)}"]
        parts.append(size(found.bytes) if found.schema_version else "nothing in it yet")
        count = found.daemon_count
        parts.append(counted(count, "daemon uses it", "daemons use it") if count else "no daemon uses it now")
        shell.print([f"{shell.out.mark('ok')} {texts.DOT.join(parts)}"])
    return 1 if found is not None and found.problem else 0


@storage_verb.command("move")
@click.argument("url", required=False, default="", metavar="[URL]")
@click.option("--to-file", "to_file", is_flag=True, help="Move from the server into the file in the home.")
@click.option(
    "--anew", is_flag=True, help="Copy everything again, if a move was cut off and the memory has changed since."
)
@printing
def move_verb(shell: Shell, url: str, *, to_file: bool, anew: bool) -> int:
    """Move the memory to a PostgreSQL server, or back into the file. No daemon may run.

    Every row is copied and then compared. A move that was cut off goes on when it is called again. The old place keeps
    its data.
    """
    if bool(url) == to_file:
        raise click.UsageError("name the server's URL, or --to-file")
    with said(shell, "Moving  {progress} so far") as tell:

        def report(table: str, done: int, total: int | None) -> None:
            tell(f"{table}: {done:,} compared" if total is None else f"{table}: {done:,} of {total:,}")

        counts, left_at = shell.open_maintenance().move_storage(shell.home, shell.environment, url, report, anew=anew)
    if shell.as_json:
        shell.print_json({"counts": dict(counts), "left_at": left_at and str(left_at)})
        return 0
    taken, learned = counts["events"], counts["memory_records"]
    others = counted(sum(counts.values()) - taken - learned, "row", "rows")
    moved = f"{events(taken)}, {memories(learned)} and {others} of other kinds"
    lines = [f"{shell.out.mark('ok')} {moved} were copied and compared; the settings name the new place"]
    stays = "What you forget from now on stays in"
    if to_file:
        lines.append(f"  {stays} the server's schema kiro_learn, which is as it was.")
    if left_at and to_file:
        lines.append(f"  The file that was here is now in {shell.tilde(left_at)}.")
    elif left_at:
        lines.append(f"  {stays} {shell.tilde(left_at)}, which is as it was. Delete it when you trust the server.")
    shell.print([*lines, "  kiro-learn start"])
    return 0
