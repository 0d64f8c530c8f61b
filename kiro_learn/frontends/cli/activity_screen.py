"""What a session would be told, a timeline, and sessions, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kiro_learn.client.results import FeedbackCounts, FoundMemory, Recalled, Session, SessionContext, TimelineEntry
from kiro_learn.frontends.cli import activity_texts, texts
from kiro_learn.frontends.cli.amounts import calendar_time, counted, duration, memories
from kiro_learn.frontends.cli.history_screen import HEAD
from kiro_learn.frontends.cli.memory_screen import ID_COLUMN, KIND_COLUMN
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.search_screen import INDENT, found_by, headline, kind
from kiro_learn.frontends.cli.terminal import Terminal, cut, plain, spread

GAP = "  "


def told(context: SessionContext, project: str, terminal: Terminal) -> list[str]:
    """How much a session's context is."""
    count = memories(len(context.memory_ids))
    tokens = counted(context.tokens, *activity_texts.TOKENS)
    line = activity_texts.TOLD_AT_START.format(memories=count, project=project, tokens=tokens)
    return [terminal.dim(line)]


def found(recalled: Recalled, terminal: Terminal) -> list[str]:
    """Two lines for each memory that was found for a prompt: its title; its score, what found it, if it is told."""
    return [
        line for rank, memory in enumerate(recalled.found, start=1) for line in _found_memory(rank, memory, terminal)
    ]


def _found_memory(rank: int, memory: FoundMemory, terminal: Terminal) -> list[str]:
    told_or_not = activity_texts.IS_TOLD if memory.told else activity_texts.IS_NOT_TOLD
    how = (
        found_by(memory.found_by),
        texts.SCORE.format(score=memory.score),
        told_or_not,
        _branch(memory),
        _became(memory.feedback),
    )
    tail = short(memory.id)
    return [
        headline(rank, memory.title, kind(memory.type), terminal),
        spread(INDENT + texts.DOT.join(filter(None, how)), tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def _branch(memory: FoundMemory) -> str:
    """The branch that it was learned on, and whether its score is higher since that is checked out."""
    if memory.branch is None:
        return ""
    said = activity_texts.OF_THIS_BRANCH if memory.is_of_branch else activity_texts.ON_BRANCH
    return said.format(branch=memory.branch)


def _became(counts: FeedbackCounts | None) -> str:
    """What became of it before, and by what its score was multiplied for it."""
    if counts is None:
        return ""
    known = [f"{count} {name}" for name, count in counts._asdict().items() if name != "factor" and count]
    return f"{', '.join(known)} (x{counts.factor:.2f})" if known else ""


def found_summary(recalled: Recalled, project: str, terminal: Terminal) -> list[str]:
    """How many were found, and how many of them would be told."""
    if not recalled.found:
        return [activity_texts.NOTHING_RECALLED.format(project=project)]
    line = activity_texts.FOUND_FOR.format(
        memories=memories(len(recalled.found)), project=project, told=len(recalled.memory_ids)
    )
    return [terminal.dim(line)]


def timeline(entries: Sequence[TimelineEntry], anchor: str, now: datetime, terminal: Terminal) -> list[str]:
    """A line a memory, oldest first; the one that it goes around is marked."""
    return [_entry(entry, now, terminal, is_anchor=entry.id == anchor) for entry in entries]


def around(entries: Sequence[TimelineEntry], anchor: str, project: str, terminal: Terminal) -> list[str]:
    """How many these are."""
    line = activity_texts.AROUND.format(memories=memories(len(entries)), tail=short(anchor), project=project)
    return [terminal.dim(line)]


def sessions(listed: Sequence[Session], now: datetime, terminal: Terminal) -> list[str]:
    """A line a session, below the names of the columns; ids are never cut."""
    if not listed:
        return []
    rows = [activity_texts.SESSION_COLUMNS, *(_session(session, now) for session in listed)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [
        GAP.join(
            (
                f"{row[0]:<{widths[0]}}",
                *(f"{cell:>{width}}" for cell, width in zip(row[1:-1], widths[1:], strict=True)),
                row[-1],
            )
        )
        for row in rows
    ]
    return [terminal.dim(lines[0]), *lines[1:]]


def sessions_listed(count: int, project: str, terminal: Terminal, *, is_full: bool) -> list[str]:
    """How many these are; ``is_full``: there may be more."""
    if not count:
        return [activity_texts.SESSIONS_NONE.format(project=project)]
    number = counted(count, *activity_texts.SESSIONS)
    line = activity_texts.SESSIONS_LISTED.format(sessions=number, project=project)
    return [terminal.dim(texts.DOT.join((line, activity_texts.MORE)) if is_full else line)]


def _entry(entry: TimelineEntry, now: datetime, terminal: Terminal, *, is_anchor: bool) -> str:
    when = calendar_time(entry.created_at, now)
    kind = cut(entry.type.replace("_", " "), KIND_COLUMN - 2)
    left = f"{HEAD if is_anchor else GAP}{short(entry.id):{ID_COLUMN}}{kind:{KIND_COLUMN}}"
    title = cut(entry.title, terminal.width - len(left) - len(when) - 2)
    painted = terminal.dim(left) + (terminal.bold(title) if is_anchor else title)
    return spread(left + title, when, terminal.width, painted_left=painted, painted_right=terminal.dim(when))


def _session(session: Session, now: datetime) -> tuple[str, ...]:
    lasted = (session.last_event_at - session.started_at).total_seconds()
    return (
        calendar_time(session.last_event_at, now),
        duration(lasted),
        f"{session.event_count:,}",
        f"{session.prompt_count:,}",
        plain(session.id),
    )
