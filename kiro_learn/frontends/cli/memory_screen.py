"""Renders memories for the terminal: a list, one in full, and those that are to be forgotten."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from kiro_learn.client.building import Json
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.record_ids import SHOWN, short
from kiro_learn.frontends.cli.search import kind_of
from kiro_learn.frontends.cli.status_screen import how_learned
from kiro_learn.frontends.cli.terminal import (
    Terminal,
    calendar_time,
    counted,
    cut,
    events,
    memories,
    moment_of,
    plain,
    spread,
)
from kiro_learn.model.sharing import SHARED_STRATEGY

KIND_COLUMN = 16
FIELD_COLUMN = 9
ID_COLUMN = SHOWN + 3
INDENT = "  "
SAME_WORDS_SHOWN = 5
DIRECT = "direct"
"""The strategy of a memory that was handed in, and not learned."""


class Changed(NamedTuple):
    """How a memory replaced others."""

    how: str
    history: str
    """The command that shows the replaced memories."""


def rows(records: Sequence[Json], now: datetime, terminal: Terminal) -> list[str]:
    """A line for each memory: the end of its id, its kind, its title, when it was learned."""
    return [_row(record, now, terminal) for record in records]


def stale_rows(records: Sequence[Json], now: datetime, terminal: Terminal) -> list[str]:
    """The same lines, each followed by the files that are gone or were changed since."""
    return [line for record in records for line in (_row(record, now, terminal), *_stale_files(record, terminal))]


def _stale_files(record: Json, terminal: Terminal) -> Iterator[str]:
    for name, files in (("gone", record["files_gone"]), ("changed", record["files_changed"])):
        if files:
            yield from _field(name, ", ".join(files), terminal)


def listed_stale(shown: int, total: int, project: str, terminal: Terminal) -> list[str]:
    """How many memories are shown, of how many."""
    if not total:
        return [f"No memory in {project} cites a file that is gone or was changed since."]
    line = f"{shown:,} of {memories(total)} in {project} that cite files that are gone or were changed since"
    return [terminal.dim(line if shown == total else texts.DOT.join((line, "--all")))]


def listed(shown: int, total: int, project: str, terminal: Terminal) -> list[str]:
    """How many memories are shown, of how many."""
    if not total:
        return [f"No memory in {project} yet."]
    line = f"{shown:,} of {memories(total)} in {project}"
    return [terminal.dim(line if shown == total else texts.DOT.join((line, "--all")))]


def perhaps_moved(commands: Sequence[str], terminal: Terminal) -> list[str]:
    """The commands that bring the memories along, if the folder was renamed or moved."""
    said = "If this folder was renamed or moved, its memories are kept under the old one:"
    return [said, *(f"  {terminal.command(each)}" for each in commands)] if commands else []


def listed_some(shown: int, project: str, terminal: Terminal, *, is_more: bool) -> list[str]:
    """How many memories are shown of those that fit the filters, which nobody counts."""
    if not shown:
        return [f"No memory in {project} fits."]
    line = f"{memories(shown)} of {project} shown"
    return [terminal.dim(texts.DOT.join((line, "--all")) if is_more else line)]


def memory(
    record: Json,
    project: str,
    now: datetime,
    terminal: Terminal,
    *,
    changed: Changed | None = None,
    teachers: Sequence[str] = (),
) -> list[str]:
    """One memory with all that people ask for; ``teachers``: whose agents reported what it was learned from."""
    label = texts.DOT.join(filter(None, (kind_of(record), project)))
    title = cut(record["title"], terminal.width - len(label) - 2)
    head = spread(title, label, terminal.width, painted_left=terminal.bold(title), painted_right=terminal.dim(label))
    body = [*_paragraphs(record["summary"], terminal.width)]
    for fact in record["facts"]:
        body += _wrapped(fact, terminal.width, first=f"{INDENT}- ", next_ones=f"{INDENT}  ")
    fields = [line for name, value in _fields(record, now) for line in _field(name, value, terminal)]
    fields += _field("Told by", ", ".join(teachers), terminal) if teachers else []
    fields += _change(changed, terminal) if changed else []
    return [head, *body, *fields, *_field("Id", record["record_id"], terminal)]


def to_forget(
    records: Sequence[Json], replaced: Mapping[str, int], same_words: Sequence[Json], terminal: Terminal
) -> list[str]:
    """What goes and what stays; ``replaced``: by id, how many memories are kept only as replaced by that one."""
    goes = [line for record in records for line in _goes(record, replaced.get(record["record_id"], 0), terminal)]
    head = terminal.bold(f"Forget {memories(len(records))}")
    stays = [titled("stays", record, terminal) for record in same_words[:SAME_WORDS_SHOWN]]
    if same_words:
        stays.append(f"{INDENT}{'':7}{_more(same_words)}: --same-words forgets them too")
    return [head, *goes, *stays, f"{INDENT}{'stays':7}the events they were learned from"]


def edited(new: str, old: str, terminal: Terminal) -> list[str]:
    return [f"{terminal.mark('ok')} Corrected: {short(new)} replaces {short(old)}"]


def forgotten(count: int, same_words: Sequence[str], terminal: Terminal) -> list[str]:
    """How many memories were forgotten, and which ones still hold the same words."""
    line = f"{terminal.mark('ok')} {memories(count)} forgotten"
    if not same_words:
        return [line]
    ids = ", ".join(map(short, same_words[:SAME_WORDS_SHOWN]))
    return [line, f"{terminal.mark('warning')} {_more(same_words)}: {ids}"]


def _more(same_words: Sequence[object]) -> str:
    return counted(len(same_words), *texts.SAME_WORDS)


def titled(what: str, record: Json, terminal: Terminal) -> str:
    """What becomes of a memory, the end of its id, and its title."""
    return f"{INDENT}{what:7}{short(record['record_id'])}  {cut(record['title'], terminal.width - 20)}"


def _goes(record: Json, replaced_count: int, terminal: Terminal) -> Iterator[str]:
    yield titled("goes", record, terminal)
    if replaced_count:
        yield f"{INDENT}{'':7}and {memories(replaced_count)} that it replaced"


def _row(record: Json, now: datetime, terminal: Terminal) -> str:
    when = calendar_time(moment_of(record["created_at"]), now)
    left = f"{short(record['record_id']):{ID_COLUMN}}{cut(kind_of(record), KIND_COLUMN - 2):{KIND_COLUMN}}"
    when = f"{record['branch']}  {when}" if record.get("branch") else when
    when = f"pinned  {when}" if record.get("pinned_at") else when
    title = cut(record["title"], terminal.width - len(left) - len(when) - 2)
    painted = terminal.dim(left) + terminal.bold(title)
    return spread(left + title, when, terminal.width, painted_left=painted, painted_right=terminal.dim(when))


def _fields(record: Json, now: datetime) -> Iterator[tuple[str, str]]:
    names = ("files_touched", "files_read", "files_modified")
    if files := dict.fromkeys(file for name in names for file in record.get(name, ())):
        yield "Files", ", ".join(files)
    if record["concepts"]:
        yield "Concepts", ", ".join(record["concepts"])
    if commit := record.get("details", {}).get("commit"):
        yield "Commit", commit
    if record.get("branch"):
        yield "Branch", f"{record['branch']}, not merged"
    yield _origin(record, calendar_time(moment_of(record["created_at"]), now))
    if record.get("pinned_at"):
        time = calendar_time(moment_of(record["pinned_at"]), now)
        yield "Pinned", f"since {time}, told at the start of every session"
    if record.get("stale_at"):
        yield "Stale", f"since {calendar_time(moment_of(record['stale_at']), now)}"


def _origin(record: Json, time: str) -> tuple[str, str]:
    if record["strategy"] == DIRECT:
        return "Kept", f"{time} as it was handed in"
    if record["strategy"] == SHARED_STRATEGY:
        return "Shared", f"{time} through the team"
    from_events = events(len(record["source_event_ids"]))
    return "Learned", f"{time} {_how(record['strategy'])}, from {from_events}"


def _how(strategy: str) -> str:
    """The kind of learner; for a merged memory, the kind of judge."""
    if strategy.startswith("llm-"):
        return "by a model"
    return how_learned(strategy.removesuffix("-reconciled"))


def _change(changed: Changed, terminal: Terminal) -> list[str]:
    """The field with the command in one piece, so that it can be copied."""
    first = f"{INDENT}{'Changed':{FIELD_COLUMN}}"
    length = len(first + changed.how + texts.DOT + changed.history)
    gap = texts.DOT if length <= terminal.width else "\n" + " " * len(first)
    return f"{terminal.dim(first)}{changed.how}{gap}{terminal.command(changed.history)}".split("\n")


def _field(name: str, value: str, terminal: Terminal) -> list[str]:
    first = f"{INDENT}{name:{FIELD_COLUMN}}"
    lines = _wrapped(value, terminal.width, first=first, next_ones=" " * len(first))
    return [terminal.dim(first) + lines[0].removeprefix(first), *lines[1:]]


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for line in text.splitlines():
        yield from _wrapped(line, width, first=INDENT, next_ones=INDENT) if line.strip() else [""]


def _wrapped(text: str, width: int, *, first: str, next_ones: str) -> list[str]:
    return textwrap.wrap(
        plain(text),
        width,
        initial_indent=first,
        subsequent_indent=next_ones,
        break_long_words=False,
        break_on_hyphens=False,
    )
