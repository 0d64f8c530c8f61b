"""A relearning as lines: what it will do, and what it has done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.amounts import counted, duration, events, memories
from kiro_learn.frontends.cli.terminal import Terminal, cut

VERB_COLUMN = 10
INDENT = "  "
MOST_TITLES = 10
SOME_MEMORY = "kiro-learn memories {verb} MEMORY"

Json = dict[str, Any]


class Took(NamedTuple):
    """Who did it, and for how long; and what to type for the rest of it."""

    model: str
    seconds: float
    again: str


def to_do(preview: Json, project: str, terminal: Terminal) -> list[str]:
    """How much there is, who is asked how often, what that one is shown, and that nothing is lost."""
    head = texts.RELEARN_HEAD.format(memories=memories(preview["records"]), project=project)
    shown = texts.RELEARN_STAYS_HERE if preview["stays_here"] else texts.RELEARN_MAY_LEAVE
    rows = (
        (texts.RELEARN_ASKS, _asked(preview)),
        (texts.RELEARN_SHOWS, shown.format(events=events(preview["events"]))),
        *_protected_row(sum(each["is_protected"] for each in preview["memories"])),
        (texts.RELEARN_KEEPS, texts.RELEARN_HISTORY),
    )
    return [terminal.bold(cut(head, terminal.width)), *(_row(verb, text, terminal) for verb, text in rows)]


def would_go(preview: Json, terminal: Terminal) -> list[str]:
    """Every memory that may be replaced, by its title; those that bind say so."""
    return [
        _title(each["title"], terminal, note=texts.BOUND if each["is_protected"] else "")
        for each in preview["memories"]
    ]


def too_little(relearned: Json, model: str, terminal: Terminal) -> list[str]:
    """What would go and what would come, where that is far less."""
    going, coming = relearned["too_little"]["going"], relearned["too_little"]["coming"]
    head = texts.TOO_LITTLE_HEAD.format(model=model, going=memories(len(going)), coming=len(coming))
    return [
        f"{terminal.mark('warning')} {terminal.bold(cut(head, terminal.width - 2))}",
        f"{INDENT}{texts.TOO_LITTLE_GOES}",
        *_titles(going, terminal),
        f"{INDENT}{texts.TOO_LITTLE_COMES}",
        *_titles(coming, terminal),
    ]


def done(relearned: Json, took: Took, terminal: Terminal) -> list[str]:
    """How many memories replaced how many; why it ended, if early; and how to undo it, if there is anything."""
    replaced_by = texts.REPLACED_BY.format(
        replaced=memories(relearned["replaced"]), count=relearned["records"], model=took.model
    )
    nothing = texts.NOTHING_REPLACED if relearned["too_little"] else texts.NONE_REPLACED
    said = replaced_by if relearned["replaced"] else nothing.format(model=took.model)
    mark = "warning" if relearned["stopped_because"] else "ok"
    return [
        f"{terminal.mark(mark)} {texts.DOT.join((said, duration(took.seconds)))}",
        *_rest(relearned, took.again, terminal),
    ]


def _asked(preview: Json) -> str:
    calls, left = preview["calls"], preview["calls_left"]
    text = texts.RELEARN_MODEL
    if left is not None:
        text = texts.RELEARN_CALLS_LEFT if calls <= left else texts.RELEARN_TOO_MANY_CALLS
    return text.format(model=preview["model"], calls=counted(calls, *texts.CALLS), left=left or 0)


def _rest(relearned: Json, again: str, terminal: Terminal) -> Iterator[str]:
    if relearned["stopped_because"]:
        ended = texts.STOPPED_BEFORE if relearned["too_little"] else texts.ENDED_EARLY
        yield f"{INDENT}{ended.format(problem=relearned['stopped_because'])}"
    if relearned["protected"]:
        said = texts.ONE_BOUND_STAYS if relearned["protected"] == 1 else texts.BOUND_STAY
        yield f"{INDENT}{said.format(memories=memories(relearned['protected']))}"
    if relearned["left"] == 1:
        yield f"{INDENT}{texts.STILL_ONE_WITHOUT_A_MODEL}"
    elif relearned["left"]:
        yield f"{INDENT}{texts.STILL_WITHOUT_A_MODEL.format(memories=memories(relearned['left']))}"
    if relearned["too_little"]:
        yield f"{INDENT}{texts.REPLACE_ANYWAY.format(command=terminal.command(f'{again} --yes'))}"
    elif relearned["stopped_because"]:
        yield f"{INDENT}{texts.GO_ON.format(command=terminal.command(again))}"
    if relearned["replaced"]:
        undo = terminal.command(SOME_MEMORY.format(verb="undo"))
        yield f"{INDENT}{texts.UNDO_ONE.format(command=undo)}"


def _row(verb: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{verb:{VERB_COLUMN}}{cut(text, terminal.width - len(INDENT) - VERB_COLUMN)}"


def _protected_row(count: int) -> Iterator[tuple[str, str]]:
    if count == 1:
        yield texts.RELEARN_GOES, texts.RELEARN_ONE_PROTECTED
    elif count:
        yield texts.RELEARN_GOES, texts.RELEARN_PROTECTED.format(memories=memories(count))


def _titles(titles: Sequence[str], terminal: Terminal) -> Iterator[str]:
    yield from (_title(each, terminal) for each in titles[:MOST_TITLES])
    if len(titles) > MOST_TITLES:
        yield f"{INDENT * 2}{texts.MORE_TITLES.format(memories=memories(len(titles) - MOST_TITLES))}"


def _title(title: str, terminal: Terminal, *, note: str = "") -> str:
    after = f"{texts.DOT}{note}" if note else ""
    return f"{INDENT * 2}{cut(title, terminal.width - len(INDENT) * 2 - len(after))}{terminal.dim(after)}"
