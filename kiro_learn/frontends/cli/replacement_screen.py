"""Renders what a memory replaced: the whole history, and what an undo will do and has done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from kiro_learn.client.building import Json
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.record_ids import SHOWN, short
from kiro_learn.frontends.cli.terminal import Terminal, calendar_time, cut, events, memories, moment_of, spread

UNDO_HEAD = "Undo: {what} of {time} in {project}"

NAME_COLUMN = SHOWN + 3
VERB_COLUMN = 8
INDENT = "  "
HEAD = "\N{BLACK CIRCLE} "
MEMBER = "\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT} "
LAST_MEMBER = "\N{BOX DRAWINGS LIGHT UP AND RIGHT} "


class _Words(NamedTuple):
    """The words for one reason to replace memories."""

    came: str
    came_from: str
    deed: str


_WORDS = {
    "merged": _Words("merged", "merged from {memories}", "merge"),
    "relearned": _Words("learned again", "learned again from {memories}", "relearning"),
}
_JUDGES = {
    "llm-reconciled": "by a model",
    "llm-summary": "by a model",
    "extractive-reconciled": "by a rule",
    "edited": "corrected",
    "distilled": "shortened by age",
}
"""Who decided on a replacement, by the strategy of the new memory; empty for other strategies."""


class _Row(NamedTuple):
    sign: str
    name: str
    when: str
    text: str
    label: str = ""


class Undo(NamedTuple):
    """A replacement that is about to be undone, with its records."""

    replacement: Json
    goes: Sequence[Json]
    """The memories that it brought, as far as they still exist."""
    project: str


def replacement_of(history: Json) -> Json | None:
    """The replacement that made the memory itself; None if it was learned."""
    return next((each for each in history["replacements"] if history["record_id"] in each["replacing"]), None)


def is_pinned_last(history: Json) -> bool:
    """Whether the memory was pinned after it was made, so that an undo removes the pin."""
    came = replacement_of(history)
    return "pinned_at" in history and (came is None or came["replaced_at"] <= history["pinned_at"])


def how_it_came(replacement: Json) -> str:
    """How the memory came, such as ``merged from 2 memories``."""
    text = _WORDS[replacement["reason"]].came_from.format(memories=memories(len(replacement["replaced"])))
    others = len(replacement["replacing"]) - 1
    return texts.DOT.join((text, f"{others:,} more came with it")) if others else text


def replaced_count(history: Json) -> int:
    """How many memories are kept only because this one replaced them, directly or in several steps."""
    return sum(len(replacement["replaced"]) for replacement in history["replacements"])


def history(record: Json, said: Json, undo: str, now: datetime, terminal: Terminal) -> list[str]:
    """The pin, if it is the newest change, and every replacement that led to ``record``, newest first.

    Each replacement has its old records. ``undo`` is the command that undoes the first change.
    """
    replacements = said["replacements"]
    rows, what = [], ""
    if is_pinned_last(said):
        rows = [_Row(HEAD, "now", _time(said["pinned_at"], now), "pinned")]
        what = "pin"
    if replacements:
        rows += _rows(record, replacements, now)
        what = what or _WORDS[replacements[0]["reason"]].deed
    else:
        learned = _time(record["created_at"], now)
        rows.append(_Row(HEAD, "now", learned, record["title"], "learned"))
    undo_it = f"Undo the {what}: {terminal.command(undo)}"
    return [*_aligned(rows, terminal), undo_it if what else terminal.dim("It replaced no other memory.")]


def to_undo(undo: Undo, now: datetime, terminal: Terminal) -> list[str]:
    """What comes back, what goes, and what is lost with it."""
    head = UNDO_HEAD.format(
        what=_WORDS[undo.replacement["reason"]].deed,
        time=_time(undo.replacement["replaced_at"], now),
        project=undo.project,
    )
    back = [_to_move("back", record, terminal) for record in undo.replacement["replaced"]]
    goes = [_to_move("goes", record, terminal) for record in undo.goes]
    return [terminal.bold(head), *back, *goes, *_losses(undo)]


def pin_to_undo(history: Json, project: str, now: datetime, terminal: Terminal) -> list[str]:
    """The head for undoing a pin: nothing else changes."""
    time = _time(history["pinned_at"], now)
    return [terminal.bold(UNDO_HEAD.format(what="pin", time=time, project=project))]


def undone(answer: Json, terminal: Terminal) -> list[str]:
    """That the pin is gone, or how many memories are back."""
    back = f"{memories(len(answer['restored']))} back, searchable again"
    return [f"{terminal.mark('ok')} {'No longer pinned' if answer['undone'] == 'pin' else back}"]


def _rows(record: Json, replacements: Sequence[Json], now: datetime) -> Iterator[_Row]:
    came = {each: _WORDS[change["reason"]].came for change in replacements for each in change["replacing"]}
    known = {each["record_id"]: each for each in [record, *_members(replacements)]}
    for change in replacements:
        # At least one record that a replacement brought is part of this history, else the replacement would not be.
        brought = next(known[each] for each in change["replacing"] if each in known)
        name = "now" if brought is record else short(brought["record_id"])
        judge = _JUDGES.get(brought["strategy"], "")
        yield _Row(HEAD, name, _time(change["replaced_at"], now), how_it_came(change), judge)
        for position, member in enumerate(change["replaced"], start=1):
            yield _member(member, came, now, is_last=position == len(change["replaced"]))


def _members(replacements: Sequence[Json]) -> Iterator[Json]:
    for change in replacements:
        yield from change["replaced"]


def _member(record: Json, came: Mapping[str, str], now: datetime, *, is_last: bool) -> _Row:
    label = came.get(record["record_id"], "learned")
    sign = LAST_MEMBER if is_last else MEMBER
    return _Row(sign, short(record["record_id"]), _time(record["created_at"], now), record["title"], label)


def _aligned(rows: Sequence[_Row], terminal: Terminal) -> Iterator[str]:
    time_column = max(len(row.when) for row in rows) + 2
    for row in rows:
        before = f"{row.sign}{row.name:{NAME_COLUMN}}{row.when:{time_column}}"
        text = cut(row.text, terminal.width - len(before) - (len(row.label) + 2 if row.label else 0))
        shown = terminal.bold(text) if row.sign == HEAD else text
        yield spread(
            before + text,
            row.label,
            terminal.width,
            painted_left=terminal.dim(before) + shown,
            painted_right=terminal.dim(row.label),
        ).rstrip()


def _to_move(verb: str, record: Json, terminal: Terminal) -> str:
    before = f"{INDENT}{verb:{VERB_COLUMN}}{short(record['record_id'])}{INDENT}"
    return before + cut(record["title"], terminal.width - len(before))


def _losses(undo: Undo) -> Iterator[str]:
    """How many events are lost: a new memory may also be learned from events that no returning memory cites."""
    stays = {event for record in undo.replacement["replaced"] for event in record["source_event_ids"]}
    lost = {event for record in undo.goes for event in record["source_event_ids"]} - stays
    if lost:
        yield f"{INDENT}{'':{VERB_COLUMN}}and what was learned from {events(len(lost))} more"


def _time(text: str, now: datetime) -> str:
    return calendar_time(moment_of(text), now)
