"""The demo as lines. What is said comes from the daemon's answers of this very run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.amounts import duration, events, memories, moment_of
from kiro_learn.frontends.cli.search_screen import kind_of
from kiro_learn.frontends.cli.terminal import Terminal, cut, spread

HEADING_COLUMN = 18
WHO_COLUMN = 6
INDENT = "  "
LABEL_COLUMN = 10
KIND_COLUMN = 12
REASON_COLUMN = 26
LEFT_OUT_COLUMN = 36
MOST_BLOCK_LINES = 13
LINES_OF_A_PARAGRAPH = 2
WIDTH = 80
BAR = "\N{BOX DRAWINGS LIGHT VERTICAL} "

Json = dict[str, Any]


class Reason(NamedTuple):
    """Why one memory was shown."""

    title: str
    words: tuple[str, ...]
    """Of the question, that find it."""
    place_by_meaning: int | None
    """Counted from 1."""


class Told(NamedTuple):
    """One question and what came of it."""

    question: str
    retrieval: Json
    reasons: tuple[Reason, ...]
    left_out: tuple[str, ...]
    """Titles of the project's other memories."""


class Limits(NamedTuple):
    """What the demo's daemon was told to keep to."""

    context_bytes: int
    budget_ms: float


def heading(title: str, facts: str, terminal: Terminal) -> str:
    column = max(HEADING_COLUMN, len(title) + 4)
    return f"{terminal.bold(f'{title:{column}}')}{facts}"


def event_lines(moment: datetime, who: str, deed: str, terminal: Terminal) -> list[str]:
    """When, who, what; the text of at most two lines."""
    first = f"{INDENT}{moment:%a %H:%M} {who:{WHO_COLUMN}}"
    note = texts.DEMO_REMOVED if "[REDACTED" in deed else ""
    lines = _few(" ".join(filter(None, (deed, note))), WIDTH - len(first), LINES_OF_A_PARAGRAPH)
    return [terminal.dim(first) + lines[0], *(" " * len(first) + line for line in lines[1:])]


def more_events(count: int, terminal: Terminal) -> str:
    said = texts.DEMO_MORE.format(events=events(count))
    return terminal.dim(f"{INDENT}{'':10}\N{HORIZONTAL ELLIPSIS} {said}")


def learned(records: Sequence[Json], moments: dict[str, datetime], seconds: float, terminal: Terminal) -> Iterator[str]:
    """The memories, each with the moment it came from."""
    cited = {event_id for record in records for event_id in record["source_event_ids"]}
    facts = texts.DEMO_LEARNED_FACTS.format(
        memories=memories(len(records)), time=duration(seconds), cited=len(cited), events=events(len(moments))
    )
    yield heading(texts.DEMO_LEARNED, facts, terminal)
    for record in records:
        source = texts.DEMO_FROM.format(time=f"{_moment_of(record, moments):%a %H:%M}")
        left = f"{INDENT}{kind_of(record):{KIND_COLUMN}}"
        title = cut(record["title"], WIDTH - len(left) - len(source) - 2)
        painted = left + terminal.bold(title)
        yield spread(left + title, source, WIDTH, painted_left=painted, painted_right=terminal.dim(source))


def told(about: Told, limits: Limits, terminal: Terminal, *, raw: bool) -> Iterator[str]:
    """One question, the block or nothing, and why."""
    yield _labelled(texts.DEMO_ASK, f'"{about.question}"', terminal)
    context = about.retrieval["context"]
    if not context:
        yield _labelled(texts.DEMO_IS_TOLD, texts.DEMO_NOTHING, terminal)
        return
    if raw:
        yield _labelled(texts.DEMO_IS_TOLD, "", terminal)
        yield from context.splitlines()
    else:
        yield from _many_labelled(texts.DEMO_IS_TOLD, [BAR + line for line in _short_block(context)], terminal)
    yield from _many_labelled(
        texts.DEMO_WHY, [_why(reason, len(about.reasons + about.left_out)) for reason in about.reasons], terminal
    )
    yield from _many_labelled(
        texts.DEMO_LEFT_OUT,
        [f"{cut(title, LEFT_OUT_COLUMN - 2):{LEFT_OUT_COLUMN}}{texts.DEMO_LEFT_OUT_FAR}" for title in about.left_out],
        terminal,
    )
    budget = texts.DEMO_BUDGET.format(
        used=len(context.encode()),
        most=limits.context_bytes,
        took=about.retrieval["latency_ms"],
        budget=limits.budget_ms,
    )
    yield _labelled("", terminal.dim(budget), terminal)


def end(kept: tuple[str, str] | None, terminal: Terminal) -> Iterator[str]:
    """What remains; ``kept`` is the folder and the home in it, if they do."""
    facts = texts.DEMO_LEFT_KEPT if kept else texts.DEMO_LEFT_NOTHING
    yield heading(texts.DEMO_LEFT, facts, terminal)
    for purpose, command in texts.DEMO_KEPT if kept else texts.DEMO_NEXT:
        filled = command.format(folder=kept[0], home=kept[1]) if kept else command
        yield f"{INDENT}{purpose:35}{terminal.command(filled)}"


def _why(reason: Reason, count: int) -> str:
    facts = []
    if reason.words:
        facts.append(texts.DEMO_WHY_WORDS.format(words=", ".join(reason.words)))
    if reason.place_by_meaning is not None:
        facts.append(texts.DEMO_WHY_MEANING.format(place=reason.place_by_meaning, count=count))
    width = WIDTH - len(INDENT) - LABEL_COLUMN - REASON_COLUMN
    return f"{cut(reason.title, REASON_COLUMN - 2):{REASON_COLUMN}}{cut(texts.DOT.join(facts), width)}".rstrip()


def _short_block(context: str) -> list[str]:
    """The block without its blank lines, long ones cut: for the screen only."""
    width = WIDTH - len(INDENT) - LABEL_COLUMN - len(BAR)
    lines = [piece for line in context.splitlines() if line for piece in _few(line, width, LINES_OF_A_PARAGRAPH)]
    rest = len(lines) - MOST_BLOCK_LINES
    if rest <= 0:
        return lines
    return [*lines[: MOST_BLOCK_LINES - 1], f"\N{HORIZONTAL ELLIPSIS} {texts.DEMO_BLOCK_REST.format(count=rest + 1)}"]


def _few(text: str, width: int, count: int) -> list[str]:
    """``text`` in at most ``count`` lines of ``width``."""
    return textwrap.wrap(text, width, max_lines=count, placeholder="\N{HORIZONTAL ELLIPSIS}") or [""]


def _labelled(label: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{terminal.dim(f'{label:{LABEL_COLUMN}}')}{text}"


def _many_labelled(label: str, lines: Iterable[str], terminal: Terminal) -> Iterator[str]:
    for position, line in enumerate(lines):
        yield _labelled(label if position == 0 else "", line, terminal)


def _moment_of(record: Json, moments: dict[str, datetime]) -> datetime:
    """When the last of the events that it came from happened."""
    return max(moments[event_id] for event_id in record["source_event_ids"])


def moments_of(stored: Iterable[Json], now: datetime) -> dict[str, datetime]:
    """When each event happened, in the reader's zone."""
    return {event["event_id"]: moment_of(event["valid_time"]).astimezone(now.tzinfo) for event in stored}
