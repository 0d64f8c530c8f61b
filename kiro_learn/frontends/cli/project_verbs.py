"""projects list, show, rename, merge, forget; pause and resume."""

from __future__ import annotations

from typing import Any

import click

from kiro_learn.client import json_calls, project_calls
from kiro_learn.client.results import ProjectFact
from kiro_learn.frontends.cli import forgetting_texts, pause_texts, profile_texts, projects, texts
from kiro_learn.frontends.cli.forget import carry_out
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing, typed
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

Json = dict[str, Any]


@click.group("projects", cls=ListsAlone, help=forgetting_texts.PROJECTS_HELP)
def projects_verb() -> None:
    """Only a name for those inside."""


@projects_verb.command("list", help=forgetting_texts.PROJECTS_LIST_HELP)
@printing
def list_verb(shell: Shell, as_json: bool) -> None:
    with shell.client() as client:
        found = client.stats(sizes=True)["projects"]
    if as_json:
        shell.print_json({"projects": found})
        return
    shell.print([_row(each, shell) for each in found] or [forgetting_texts.NO_PROJECTS])


@projects_verb.command("show", help=profile_texts.SHOW_HELP)
@click.argument("project", default="")
@printing
def show_verb(shell: Shell, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.profile(client, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        facts = client.carry_out(call)
    if facts:
        shell.print([_fact(fact, shell) for fact in facts])
    else:
        shell.say([profile_texts.NOTHING_READ.format(project=place.name)])


@projects_verb.command("forget", help=forgetting_texts.PROJECTS_FORGET_HELP)
@click.argument("project")
@click.option("--delete-copies", is_flag=True, help=forgetting_texts.DELETE_COPIES_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def forget_verb(shell: Shell, *, project: str, delete_copies: bool, yes: bool, as_json: bool) -> int:
    with shell.client() as client:
        asked = {"project": projects.meant(client, project).namespace, "whole": True, "delete_copies": delete_copies}
        return carry_out(shell, client, asked, yes=yes, as_json=as_json)


@projects_verb.command("rename", help=forgetting_texts.RENAME_HELP)
@click.argument("project")
@click.argument("name")
@printing
def rename_verb(shell: Shell, project: str, name: str, as_json: bool) -> None:
    with shell.client() as client:
        found = projects.meant(client, project)
        renamed = client.carry_out(json_calls.rename_project(client, typed(name), project=found.namespace))
    if as_json:
        shell.print_json(renamed)
    else:
        said = forgetting_texts.RENAMED.format(old=found.name, new=renamed["project"])
        shell.print([f"{shell.out.mark('ok')} {said}"])


@projects_verb.command("merge", help=forgetting_texts.MERGE_HELP)
@click.argument("project")
@click.argument("into")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def merge_verb(shell: Shell, project: str, into: str, yes: bool, as_json: bool) -> None:
    with shell.client() as client:
        source, target = projects.meant(client, project), projects.meant(client, into)
        question = forgetting_texts.MERGE_QUESTION.format(source=source.name, target=target.name)
        if not shell.confirm(question, flag_given=yes):
            raise Failed(forgetting_texts.NOT_MERGED)
        merged = client.carry_out(json_calls.merge_project(client, target.namespace, project=source.namespace))
    if as_json:
        shell.print_json(merged)
    else:
        said = forgetting_texts.MERGED.format(source=source.name, target=target.name)
        shell.print([f"{shell.out.mark('ok')} {said}"])


def _fact(fact: ProjectFact, shell: Shell) -> str:
    terminal: Terminal = shell.out
    left = f"{fact.slot:{profile_texts.SLOT_COLUMN}}{fact.value}"
    ran = [profile_texts.RAN.format(well=fact.succeeded, badly=fact.failed)] if fact.last_at else []
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


# pause, resume: nothing is taken in from hooks meanwhile, and nothing told.


@click.command("pause", help=pause_texts.PAUSE_HELP)
@click.option("--session", help=pause_texts.SESSION_HELP)
@in_project
@printing
def pause_verb(shell: Shell, session: str | None, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        done = client.carry_out(json_calls.pause(client, session=session, project=place.spelled))
    if as_json:
        shell.print_json(done)
        return
    paused = pause_texts.PAUSED.format(what=what(place.name, session))
    shell.print([f"{shell.out.mark('ok')} {paused}"])
    shell.say([f"{shell.err.dim(texts.HINT)}  {shell.err.command(pause_texts.HOW_TO_END)}"])


@click.command("resume", help=pause_texts.RESUME_HELP)
@click.option("--session", help=pause_texts.SESSION_HELP)
@in_project
@printing
def resume_verb(shell: Shell, session: str | None, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        done = client.carry_out(json_calls.end_pause(client, session=session, project=place.spelled))
    if as_json:
        shell.print_json(done)
        return
    said = pause_texts.RESUMED if done["resumed"] else pause_texts.NOT_PAUSED
    shell.print([f"{shell.out.mark('ok')} {said.format(what=what(place.name, session))}"])


def what(project: str, session: str | None) -> str:
    """Of which this is a pause."""
    return project if session is None else pause_texts.OF_SESSION.format(project=project, session=session)
