"""The verbs timeline, sessions and report: what went on in a project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from kiro_learn.client import project_calls
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.results import Period, Session, TimelineEntry
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import memory_screen, projects, record_ids, texts
from kiro_learn.frontends.cli.memory_screen import ID_COLUMN, KIND_COLUMN
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing
from kiro_learn.frontends.cli.record_ids import UNKNOWN, short
from kiro_learn.frontends.cli.replacement_screen import HEAD
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, calendar_time, counted, cut, duration, memories, plain, spread

SESSION_COLUMNS = ("Last event", "Lasted", "Events", "Prompts", "Session")

MOST_AROUND = 50


@click.command("timeline")
@click.argument("memory", required=False)
@click.option(
    "--before", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help="The most memories before it."
)
@click.option(
    "--after", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help="The most memories after it."
)
@in_project
@printing
def timeline_verb(shell: Shell, *, memory: str | None, before: int, after: int, project: str) -> None:
    """Show the memories made before and after one. By default, that is the newest."""
    with shell.client() as client:
        place = projects.meant(client, project)
        anchor = record_ids.found(client, memory, [place])["record_id"] if memory else _newest(client, place)
        if anchor is None:
            shell.answer({"anchor": None, "timeline": []}, lambda: [f"No memory in {place.name} yet."])
            return
        call = project_calls.timeline(client, anchor, before=before, after=after)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        entries = client.carry_out(call)
    shell.print(timeline(entries, anchor, shell.now(), shell.out))
    shell.print(around(entries, anchor, place.name, shell.out))


@click.command("report")
@click.option("--week", "period", flag_value="week", default=True, help="The last 7 days (the default).")
@click.option("--month", "period", flag_value="month", help="The last 30 days.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@in_project
@printing
def report_verb(shell: Shell, *, period: Period, markdown: bool, project: str) -> None:
    """Report the work of the last 7 or 30 days."""
    if markdown and shell.as_json:
        raise Failed("--markdown and --json exclude each other", hint="kiro-learn report --help", exit_code=2)
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        if shell.as_json:
            shell.print_json(client.body_of(project_calls.report(client, period=period, project=spelled)))
            return
        text = client.written_report(period=period, form="markdown" if markdown else "text", project=spelled)
    shell.print(plain(text).rstrip("\n").split("\n"))


def _newest(client: Client, place: projects.Project) -> str | None:
    """The id of a project's newest memory; None if it has none."""
    newest = client.memories(namespace=place.namespace, limit=1)["items"]
    return newest[0]["record_id"] if newest else None


# A timeline and sessions, as lines.

GAP = "  "


def timeline(entries: Sequence[TimelineEntry], anchor: str, now: datetime, terminal: Terminal) -> list[str]:
    """One line for each memory, oldest first; the one that the timeline is around is marked."""
    return [_entry(entry, now, terminal, is_anchor=entry.id == anchor) for entry in entries]


def around(entries: Sequence[TimelineEntry], anchor: str, project: str, terminal: Terminal) -> list[str]:
    """The number of memories that were listed."""
    line = f"{memories(len(entries))} around {short(anchor)} in {project}"
    return [terminal.dim(line)]


def session_rows(listed: Sequence[Session], now: datetime, terminal: Terminal) -> list[str]:
    """One line for each session, below the names of the columns; ids are never cut."""
    if not listed:
        return []
    rows = [SESSION_COLUMNS, *(_session(session, now) for session in listed)]
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
    """The number of sessions that were listed; ``is_full``: there may be more."""
    if not count:
        return [f"No session in {project} yet."]
    number = counted(count, "session", "sessions")
    line = f"{number} in {project}"
    return [terminal.dim(texts.DOT.join((line, texts.MORE_BY_LIMIT)) if is_full else line)]


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


# sessions: those of a project, and where one stands.

MOST = 200


@click.group("sessions", cls=ListsAlone)
def sessions_verb() -> None:
    """List sessions, or show where the work of one stands."""


@sessions_verb.command("list")
@click.option("--limit", type=click.IntRange(1, MOST), default=20, show_default=True, help=texts.LIMIT_HELP)
@in_project
@printing
def list_verb(shell: Shell, limit: int, project: str) -> None:
    """List the sessions of a project, newest first."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.sessions(client, limit=limit, project=place.spelled)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        sessions = client.carry_out(call)
    shell.print(session_rows(sessions, shell.now(), shell.out))
    shell.print(sessions_listed(len(sessions), place.name, shell.out, is_full=len(sessions) == limit))


@sessions_verb.command("resume")
@click.argument("session", required=False)
@in_project
@printing
def resume_verb(shell: Shell, session: str | None, project: str) -> None:
    """Show where the work of the last session stands, or of the named one."""
    with shell.client() as client:
        place = projects.called(client, project)
        try:
            checkpoint = client.body_of(project_calls.resume(client, session=session, project=place.spelled))
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise
            message = f"no session of {place.name} has a summary yet"
            if session:
                message = f"no session {session} of {place.name} has a summary"
            raise Failed(message, hint="kiro-learn sessions list") from error
    shell.answer(checkpoint, lambda: memory_screen.memory(checkpoint, place.name, shell.now(), shell.out))
