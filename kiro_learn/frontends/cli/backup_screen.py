"""Copies as lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from kiro_learn.frontends.cli import backup_texts, texts
from kiro_learn.frontends.cli.terminal import Terminal, ago, counted, events, memories, size
from kiro_learn.services.copies import ListedCopy, Restoration

COLUMN = 6
DAMAGED = "damaged"
"""The kind of which nobody expects that it is sound."""


def made(found: ListedCopy, terminal: Terminal) -> list[str]:
    """One that was made now."""
    facts = texts.DOT.join((backup_texts.MADE, *_holds(found), size(found.copy.bytes)))
    return [f"{terminal.mark('ok')} {facts}", f"  {terminal.dim(str(found.copy.path))}"]


def listed(found: Sequence[ListedCopy], now: datetime, terminal: Terminal, *, is_checked: bool = False) -> list[str]:
    """Two lines a copy, and the sum."""
    if not found:
        return [f"{terminal.mark('none')} {backup_texts.NO_COPY}"]
    lines = [line for each in found for line in _copy(each, now, terminal, is_checked=is_checked)]
    total = size(sum(each.copy.bytes for each in found))
    copies = counted(len(found), *backup_texts.COUNT_COPIES)
    return [*lines, backup_texts.SUM.format(copies=copies, size=total)]


def _copy(found: ListedCopy, now: datetime, terminal: Terminal, *, is_checked: bool) -> list[str]:
    mark = "wrong" if is_bad(found) else "ok" if is_checked and not found.contents.problem else "none"
    holds = (found.contents.problem,) if found.contents.problem else _holds(found)
    sound = (backup_texts.SOUND,) if is_checked and not found.contents.problem else ()
    kind = backup_texts.KINDS[found.copy.kind.value]
    facts = texts.DOT.join((ago(found.copy.made_at, now), kind, *sound, *holds, size(found.copy.bytes)))
    return [f"{terminal.mark(mark)} {terminal.bold(found.copy.name)}", f"    {facts}"]


def _holds(found: ListedCopy) -> tuple[str, str]:
    return memories(found.contents.memory_count), events(found.contents.event_count)


def is_bad(found: ListedCopy) -> bool:
    """Whether it is not sound, and ought to be."""
    return bool(found.contents.problem) and found.copy.kind.value != DAMAGED


def bad(count: int) -> str:
    """How many are not sound."""
    return backup_texts.BAD.format(copies=counted(count, *backup_texts.COUNT_COPIES))


def plan(found: Restoration, now: datetime, terminal: Terminal) -> list[str]:
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


def restored(found: Restoration, replaced: Path | None, terminal: Terminal) -> list[str]:
    """That it was done."""
    facts = texts.DOT.join((backup_texts.RESTORED, *_holds(found.found)))
    kept = [] if replaced is None else [f"  {backup_texts.REPLACED_IS_AT.format(path=replaced)}"]
    return [f"{terminal.mark('ok')} {facts}", *kept]
