"""A relearning as lines: what it will do, and what it has done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.amounts import counted, duration, events, memories
from kiro_learn.frontends.cli.terminal import Terminal, cut

VERB_COLUMN = 10
INDENT = "  "
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
        (texts.RELEARN_KEEPS, texts.RELEARN_HISTORY),
    )
    return [terminal.bold(cut(head, terminal.width)), *(_row(verb, text, terminal) for verb, text in rows)]


def done(relearned: Json, took: Took, terminal: Terminal) -> list[str]:
    """What made way for what; why it ended, if early; and how to take it back, if there is anything."""
    made_way = texts.MADE_WAY.format(
        replaced=memories(relearned["replaced"]), count=relearned["records"], model=took.model
    )
    said = made_way if relearned["replaced"] else texts.NO_WAY_MADE.format(model=took.model)
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
        yield f"{INDENT}{texts.ENDED_EARLY.format(problem=relearned['stopped_because'])}"
    if relearned["left"] == 1:
        yield f"{INDENT}{texts.STILL_ONE_WITHOUT_A_MODEL}"
    elif relearned["left"]:
        yield f"{INDENT}{texts.STILL_WITHOUT_A_MODEL.format(memories=memories(relearned['left']))}"
    if relearned["stopped_because"]:
        yield f"{INDENT}{texts.GO_ON.format(command=terminal.command(again))}"
    if relearned["replaced"]:
        undo = terminal.command(SOME_MEMORY.format(verb="undo"))
        yield f"{INDENT}{texts.UNDO_ONE.format(command=undo)}"


def _row(verb: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{verb:{VERB_COLUMN}}{cut(text, terminal.width - len(INDENT) - VERB_COLUMN)}"
