"""backup, restore, storage: copies of the memory, one of them put in its place, and where it is kept or moved to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import click

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import backup_texts, daemon_process, storage_texts, texts
from kiro_learn.frontends.cli.daemon_verbs import start_daemon
from kiro_learn.frontends.cli.options import ListsAlone, printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, ago, counted, events, memories, plain, size
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
        shell.print(_made_lines(made, shell.out))


@backup_verb.command("list", help=backup_texts.LIST_HELP)
@printing
def list_verb(shell: Shell, as_json: bool) -> None:
    found = copies_of(shell).listed()
    if as_json:
        shell.print_json({"items": [as_value(each) for each in found]})
    else:
        shell.print(_listed_lines(found, shell.now(), shell.out))


@backup_verb.command("verify", help=backup_texts.VERIFY_HELP)
@click.argument("copies", nargs=-1, metavar="[COPY]...")
@printing
def verify_verb(shell: Shell, copies: Sequence[str], as_json: bool) -> None:
    found = copies_of(shell).verify(copies)
    if as_json:
        shell.print_json({"items": [as_value(each) for each in found]})
    else:
        shell.print(_listed_lines(found, shell.now(), shell.out, is_checked=True))
    if bad := sum(_is_bad(each) for each in found):
        raise Failed(_bad(bad), hint=backup_texts.BAD_HINT)


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
        shell.say(_plan_lines(plan, shell.now(), shell.err))
    if not shell.confirm(backup_texts.QUESTION, flag_given=yes):
        raise Failed(backup_texts.NOTHING_DONE)
    replaced, address = _restored(shell, copies, plan, as_json=as_json)
    if as_json:
        shell.print_json(_as_value(plan, replaced, address))
        return
    shell.print(_restored_lines(plan, replaced, shell.out))
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


# Copies as lines.

COLUMN = 6
DAMAGED = "damaged"
"""The kind of which nobody expects that it is sound."""


def _made_lines(found: ListedCopy, terminal: Terminal) -> list[str]:
    """One that was made now."""
    facts = texts.DOT.join((backup_texts.MADE, *_holds(found), size(found.copy.bytes)))
    return [f"{terminal.mark('ok')} {facts}", f"  {terminal.dim(str(found.copy.path))}"]


def _listed_lines(
    found: Sequence[ListedCopy], now: datetime, terminal: Terminal, *, is_checked: bool = False
) -> list[str]:
    """Two lines a copy, and the sum."""
    if not found:
        return [f"{terminal.mark('none')} {backup_texts.NO_COPY}"]
    lines = [line for each in found for line in _copy(each, now, terminal, is_checked=is_checked)]
    total = size(sum(each.copy.bytes for each in found))
    copies = counted(len(found), *backup_texts.COUNT_COPIES)
    return [*lines, backup_texts.SUM.format(copies=copies, size=total)]


def _copy(found: ListedCopy, now: datetime, terminal: Terminal, *, is_checked: bool) -> list[str]:
    mark = "wrong" if _is_bad(found) else "ok" if is_checked and not found.contents.problem else "none"
    holds = (found.contents.problem,) if found.contents.problem else _holds(found)
    sound = (backup_texts.SOUND,) if is_checked and not found.contents.problem else ()
    kind = backup_texts.KINDS[found.copy.kind.value]
    facts = texts.DOT.join((ago(found.copy.made_at, now), kind, *sound, *holds, size(found.copy.bytes)))
    return [f"{terminal.mark(mark)} {terminal.bold(found.copy.name)}", f"    {facts}"]


def _holds(found: ListedCopy) -> tuple[str, str]:
    return memories(found.contents.memory_count), events(found.contents.event_count)


def _is_bad(found: ListedCopy) -> bool:
    """Whether it is not sound, and ought to be."""
    return bool(found.contents.problem) and found.copy.kind.value != DAMAGED


def _bad(count: int) -> str:
    """How many are not sound."""
    return backup_texts.BAD.format(copies=counted(count, *backup_texts.COUNT_COPIES))


def _plan_lines(found: Restoration, now: datetime, terminal: Terminal) -> list[str]:
    """What restoring would do."""
    copy, newer = found.found.copy, found.newer
    lost = backup_texts.NOTHING_NEWER
    if newer.problem:
        lost = backup_texts.NOT_COMPARED.format(problem=newer.problem)
    elif newer.event_count or newer.memory_count:
        lost = backup_texts.NEWER.format(memories=memories(newer.memory_count), events=events(newer.event_count))
    facts = texts.DOT.join((copy.name, ago(copy.made_at, now), *_holds(found.found)))
    rows = ((backup_texts.FROM, facts), (backup_texts.LOST, lost), (backup_texts.KEPT, backup_texts.WILL_BE_KEPT))
    return [f"  {terminal.bold(f'{name:{COLUMN}}')}{said}" for name, said in rows]


def _restored_lines(found: Restoration, replaced: Path | None, terminal: Terminal) -> list[str]:
    """That it was done."""
    facts = texts.DOT.join((backup_texts.RESTORED, *_holds(found.found)))
    kept = [] if replaced is None else [f"  {backup_texts.REPLACED_IS_AT.format(path=replaced)}"]
    return [f"{terminal.mark('ok')} {facts}", *kept]


# storage: where the memory is kept, whether a daemon can use it there, and moving it.


@click.group("storage", no_args_is_help=False, help=storage_texts.HELP)
def storage_verb() -> None:
    """Only a name for those inside."""


@storage_verb.command("check", help=storage_texts.CHECK_HELP)
@printing
def check_verb(shell: Shell, *, as_json: bool) -> int:
    found = shell.open_maintenance().look_at_server(shell.home, shell.environment)
    if as_json:
        shell.print_json({} if found is None else attrs.asdict(found))
    elif found is None:
        shell.print([f"{shell.out.mark('ok')} {storage_texts.IN_A_FILE.format(home=shell.tilde(shell.home))}"])
    elif found.problem:
        raise Failed(found.problem, hint=found.hint)
    else:
        parts = [plain(found.name), storage_texts.SERVER.format(version=plain(found.server_version))]
        parts.append(size(found.bytes) if found.schema_version else storage_texts.NEW)
        count = found.daemon_count
        parts.append(counted(count, storage_texts.USES, storage_texts.USE) if count else storage_texts.FREE)
        shell.print([f"{shell.out.mark('ok')} {texts.DOT.join(parts)}"])
    return 1 if found is not None and found.problem else 0


@storage_verb.command("move", help=storage_texts.MOVE_HELP)
@click.argument("url", required=False, default="", metavar="[URL]")
@click.option("--to-file", "to_file", is_flag=True, help=storage_texts.TO_FILE_HELP)
@click.option("--anew", is_flag=True, help=storage_texts.ANEW_HELP)
@printing
def move_verb(shell: Shell, url: str, *, to_file: bool, anew: bool, as_json: bool) -> int:
    if bool(url) == to_file:
        raise click.UsageError(storage_texts.WHERE_TO)
    with said(shell, storage_texts.MOVING, is_wanted=not as_json) as tell:

        def report(table: str, done: int, total: int | None) -> None:
            sentence = storage_texts.COMPARED if total is None else storage_texts.COPIED
            tell(sentence.format(table=table, done=done, total=total))

        counts, left_at = shell.open_maintenance().move_storage(shell.home, shell.environment, url, report, anew=anew)
    if as_json:
        shell.print_json({"counts": dict(counts), "left_at": left_at and str(left_at)})
        return 0
    taken, learned = counts["events"], counts["memory_records"]
    others = counted(sum(counts.values()) - taken - learned, "row", "rows")
    done = storage_texts.MOVED.format(events=events(taken), memories=memories(learned), others=others)
    left = [storage_texts.LEFT_SERVER] if to_file else []
    if left_at:
        sentence = storage_texts.KEPT if to_file else storage_texts.LEFT_FILE
        left.append(sentence.format(path=shell.tilde(left_at)))
    shell.print([f"{shell.out.mark('ok')} {done}", *(f"  {each}" for each in left), f"  {storage_texts.START}"])
    return 0
