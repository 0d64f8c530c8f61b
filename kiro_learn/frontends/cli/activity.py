"""context, timeline, report: what a session would be told, and what went on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from kiro_learn.client import calls, project_calls
from kiro_learn.client.results import (
    FeedbackCounts,
    FoundMemory,
    Period,
    Recalled,
    Session,
    SessionContext,
    TimelineEntry,
)
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import activity_texts, graph_texts, projects, record_ids, replaying, search_screen, texts
from kiro_learn.frontends.cli.memory_screen import HEAD, ID_COLUMN, KIND_COLUMN
from kiro_learn.frontends.cli.options import in_project, printing, typed
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.search_screen import INDENT, found_by, headline, kind
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, calendar_time, counted, cut, duration, memories, plain, spread

MOST_TOKENS = 100_000
SEE_CONTEXT = texts.SEE_HELP.format(command="kiro-learn context")
MOST_AROUND = 50
PROFILES = ("resolved", "literal")


@click.command("context", help=activity_texts.CONTEXT_HELP)
@click.argument("prompt", nargs=-1, type=typed)
@click.option(
    "--tokens",
    type=click.IntRange(0, MOST_TOKENS),
    help=activity_texts.TOKENS_HELP,
)
@click.option("--explain", is_flag=True, help=activity_texts.EXPLAIN_FOUND_HELP)
@click.option("--replay", metavar="FILE", type=click.Path(exists=True, path_type=Path), help=activity_texts.REPLAY_HELP)
@click.option("--graph", "by_graph", is_flag=True, help=graph_texts.GRAPH_HELP)
@click.option("--profile", type=click.Choice(PROFILES), help=graph_texts.PROFILE_HELP)
@click.option("--passages", is_flag=True, help=graph_texts.PASSAGES_HELP)
@in_project
@printing
def context_verb(
    shell: Shell,
    *,
    prompt: tuple[str, ...],
    tokens: int | None,
    explain: bool,
    replay: Path | None,
    by_graph: bool,
    profile: str | None,
    passages: bool,
    project: str,
    as_json: bool,
) -> None:
    asked = " ".join(prompt)
    if replay is not None:
        replaying.replay(shell, replay, project, as_json=as_json)
        return
    if by_graph:
        manner = profile or PROFILES[0]
        replaying.show(
            shell,
            asked,
            project,
            profile=manner,
            passages=passages,
            tokens=tokens,
            explain=explain,
            as_json=as_json,
        )
        return
    if profile is not None or passages:
        option = "--passages" if profile is None else "--profile"
        raise Failed(graph_texts.NEEDS_GRAPH.format(option=option), hint=SEE_CONTEXT, exit_code=2)
    if prompt and tokens is not None:
        raise Failed(activity_texts.NO_TOKENS, hint=SEE_CONTEXT, exit_code=2)
    if explain and not prompt:
        raise Failed(activity_texts.NO_PROMPT, hint='kiro-learn context "PROMPT" --explain', exit_code=2)
    if prompt:
        _recall(shell, asked, project, explain=explain, as_json=as_json)
    else:
        _at_start(shell, tokens, project, as_json=as_json)


def _at_start(shell: Shell, tokens: int | None, project: str, *, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.context(client, tokens=tokens, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        context = client.carry_out(call)
    if not context.text:
        room = "" if tokens is None else counted(tokens, *activity_texts.TOKENS)
        sentence = activity_texts.NOTHING_FITS if room else activity_texts.NOTHING_TOLD
        shell.say([sentence.format(project=place.name, tokens=room)])
        return
    shell.print(_lines_of(context.text))
    if shell.out.is_interactive:  # else it is read by a program, or will be
        shell.say(told(context, place.name, shell.err))


def _recall(shell: Shell, prompt: str, project: str, *, explain: bool, as_json: bool) -> None:
    """What an agent would be told with ``prompt``, or how each memory of it was found."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = calls.recall(client, prompt, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        recalled = client.carry_out(call)
    shell.say(search_screen.partial_answer(recalled.degraded, shell.err))
    if explain:
        shell.print(found(recalled, shell.out))
        shell.print(found_summary(recalled, place.name, shell.out))
    elif recalled.text:
        shell.print(_lines_of(recalled.text))
    else:
        shell.say([activity_texts.NOTHING_RECALLED.format(project=place.name)])


@click.command("timeline", help=activity_texts.TIMELINE_HELP)
@click.argument("memory", required=False)
@click.option(
    "--before", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help=activity_texts.BEFORE_HELP
)
@click.option(
    "--after", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help=activity_texts.AFTER_HELP
)
@in_project
@printing
def timeline_verb(shell: Shell, *, memory: str | None, before: int, after: int, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.meant(client, project)
        anchor = record_ids.found(client, memory, [place])["record_id"] if memory else _newest(client, place)
        if anchor is None:
            _say_none(shell, place.name, as_json=as_json)
            return
        call = project_calls.timeline(client, anchor, before=before, after=after)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        entries = client.carry_out(call)
    shell.print(timeline(entries, anchor, shell.now(), shell.out))
    shell.print(around(entries, anchor, place.name, shell.out))


@click.command("report", help=activity_texts.REPORT_HELP)
@click.option("--week", "period", flag_value="week", default=True, help=activity_texts.WEEK_HELP)
@click.option("--month", "period", flag_value="month", help=activity_texts.MONTH_HELP)
@click.option("--markdown", is_flag=True, help=activity_texts.MARKDOWN_HELP)
@in_project
@printing
def report_verb(shell: Shell, *, period: Period, markdown: bool, project: str, as_json: bool) -> None:
    if markdown and as_json:
        raise Failed(activity_texts.ONE_FORM, hint=texts.SEE_HELP.format(command="kiro-learn report"), exit_code=2)
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        if as_json:
            shell.print_json(client.body_of(project_calls.report(client, period=period, project=spelled)))
            return
        text = client.written_report(period=period, form="markdown" if markdown else "text", project=spelled)
    shell.print(_lines_of(text))


def _newest(client: Client, place: projects.Project) -> str | None:
    """The id of a project's newest memory; None if it has none."""
    newest = client.memories(namespace=place.namespace, limit=1)["items"]
    return newest[0]["record_id"] if newest else None


def _say_none(shell: Shell, project: str, *, as_json: bool) -> None:
    if as_json:
        shell.print_json({"anchor": None, "timeline": []})
    else:
        shell.print([texts.LISTED_NONE.format(project=project)])


def _lines_of(text: str) -> list[str]:
    return plain(text).rstrip("\n").split("\n")


# What a session would be told, a timeline, and sessions, as lines.

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
