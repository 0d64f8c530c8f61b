"""The verbs projects, pause and resume."""

from __future__ import annotations

import click

from kiro_learn.client import json_calls, project_calls
from kiro_learn.client.building import Json
from kiro_learn.client.results import ProjectFact
from kiro_learn.frontends.cli import projects, texts
from kiro_learn.frontends.cli.forget import carry_out
from kiro_learn.frontends.cli.options import ListsAlone, in_project, no_blank, printing, typed
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import (
    Terminal,
    calendar_time,
    cut,
    events,
    memories,
    moment_of,
    plain,
    size,
    spread,
)

SESSION_HELP = "Only the session with this id."
SLOT_COLUMN = 17


@click.group("projects", cls=ListsAlone)
def projects_verb() -> None:
    """List, show, rename, merge or forget projects."""


@projects_verb.command("list")
@printing
def list_verb(shell: Shell) -> None:
    """List the projects, those with most events first."""
    with shell.client() as client:
        found = client.stats(sizes=True)["projects"]
    shell.answer(
        {"projects": found},
        lambda: [_row(each, shell) for each in found] or ["Nothing is known of any project yet"],
    )


@projects_verb.command("show")
@click.argument("project", default="")
@printing
def show_verb(shell: Shell, project: str) -> None:
    """Show a project's languages, tools and commands. Each is shown with the file that states it."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.profile(client, project=place.spelled)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        facts = client.carry_out(call)
    if facts:
        shell.print([_fact(fact, shell) for fact in facts])
    else:
        shell.say([f"{place.name} has no manifest that can be read, or its folder is not known"])


@projects_verb.command("forget")
@click.argument("project", callback=no_blank)
@click.option("--delete-copies", is_flag=True, help=texts.DELETE_COPIES_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def forget_verb(shell: Shell, *, project: str, delete_copies: bool, yes: bool) -> int:
    """Forget all of a project, everywhere; it cannot be undone."""
    with shell.client() as client:
        asked = {"project": projects.meant(client, project).namespace, "whole": True, "delete_copies": delete_copies}
        return carry_out(shell, client, asked, yes=yes)


@projects_verb.command("rename")
@click.argument("project", callback=no_blank)
@click.argument("name")
@printing
def rename_verb(shell: Shell, project: str, name: str) -> None:
    """Rename a project. Its folder still leads to it."""
    with shell.client() as client:
        found = projects.meant(client, project)
        renamed = client.carry_out(json_calls.rename_project(client, typed(name), project=found.namespace))
    shell.answer(renamed, lambda: [f"{shell.out.mark('ok')} {found.name} is now called {renamed['project']}"])


@projects_verb.command("merge")
@click.argument("project", callback=no_blank)
@click.argument("into")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def merge_verb(shell: Shell, project: str, into: str, yes: bool) -> None:
    """Move all of a project into another.

    What its agents report later is kept there too. It cannot be undone.
    """
    with shell.client() as client:
        source, target = projects.meant(client, project), projects.meant(client, into)
        question = f"Move all of {source.name} into {target.name}? This cannot be undone."
        if not shell.confirm(question, flag_given=yes):
            raise Failed("nothing was moved")
        merged = client.carry_out(json_calls.merge_project(client, target.namespace, project=source.namespace))
    shell.answer(merged, lambda: [f"{shell.out.mark('ok')} All of {source.name} is in {target.name} now"])


def _fact(fact: ProjectFact, shell: Shell) -> str:
    terminal: Terminal = shell.out
    left = f"{fact.slot:{SLOT_COLUMN}}{fact.value}"
    ran = [f"{fact.succeeded:,} ran well, {fact.failed:,} failed"] if fact.last_at else []
    when = [calendar_time(fact.last_at, shell.now())] if fact.last_at else []
    tail = texts.DOT.join((*ran, *when, fact.source))
    return spread(plain(left), tail, terminal.width, painted_right=terminal.dim(tail))


def _row(project: Json, shell: Shell) -> str:
    terminal: Terminal = shell.out
    counts = (events(project["event_count"]), memories(project["memory_count"]))
    amounts = texts.DOT.join((*counts, size(project["size_bytes"])))
    last = project["last_event_at"]
    when = texts.DOT.join((amounts, calendar_time(moment_of(last), shell.now()))) if last else amounts
    name = cut(project["display_name"], terminal.width)
    return spread(name, when, terminal.width, painted_left=terminal.bold(name), painted_right=terminal.dim(when))


# pause, resume: meanwhile nothing is taken in from hooks, and nothing is told.


@click.command("pause")
@click.option("--session", callback=no_blank, help=SESSION_HELP)
@in_project
@printing
def pause_verb(shell: Shell, session: str | None, project: str) -> None:
    """Pause a project or a session.

    Until kiro-learn resume, nothing of it is stored, and it is told nothing. A
    session's pause also ends with the session.
    """
    with shell.client() as client:
        place = projects.called(client, project)
        done = client.carry_out(json_calls.pause(client, session=session, project=place.spelled))
    if shell.as_json:
        shell.print_json(done)
        return
    shell.print([f"{shell.out.mark('ok')} Paused {what(place.name, session)}"])
    shell.hint("kiro-learn resume, with the same options")


@click.command("resume")
@click.option("--session", callback=no_blank, help=SESSION_HELP)
@in_project
@printing
def resume_verb(shell: Shell, session: str | None, project: str) -> None:
    """End a pause."""
    with shell.client() as client:
        place = projects.called(client, project)
        done = client.carry_out(json_calls.end_pause(client, session=session, project=place.spelled))
    shell.answer(
        done, lambda: [f"{shell.out.mark('ok')} {_ended(what(place.name, session), was_paused=done['resumed'])}"]
    )


def _ended(paused: str, *, was_paused: bool) -> str:
    return f"Resumed {paused}" if was_paused else f"{paused} was not paused"


def what(project: str, session: str | None) -> str:
    """The name of what is paused."""
    return project if session is None else f"session {session} in {project}"
