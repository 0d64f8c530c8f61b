"""relearn: what was learned without a model is learned again by one."""

from __future__ import annotations

import shlex
import time
from typing import Any, NamedTuple

import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import graph_texts, progress, projects, relearning_screen, texts
from kiro_learn.frontends.cli.amounts import counted, events
from kiro_learn.frontends.cli.options import in_project, printing, since_option
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Failed, Shell

UNKNOWN = 404
NOTHING = {
    **dict.fromkeys(("events", "records", "replaced", "protected", "batches", "left"), 0),
    "stopped_because": None,
    "too_little": None,
}


@click.command("relearn", help=texts.RELEARN_HELP)
@since_option
@click.option("--graph", is_flag=True, help=graph_texts.RELEARN_GRAPH_HELP)
@click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_project
@printing
def relearn_verb(  # click hands every option over
    shell: Shell, *, since: str | None, graph: bool, dry_run: bool, yes: bool, project: str, as_json: bool
) -> int:
    if graph and dry_run:
        raise Failed(graph_texts.GRAPH_OR_DRY_RUN, exit_code=2)
    with shell.client() as client:
        place = projects.meant(client, project)
        if graph:
            return _read_graph(shell, client, place, since, as_json=as_json)
        preview = _preview(client, place, since)
        if preview is None:
            _say_nothing_to_do(shell, place, as_json=as_json)
            return 0
        if dry_run:
            _say_what_would_be_done(shell, preview, place, as_json=as_json)
            return 0
        if not yes:
            shell.say(relearning_screen.to_do(preview, place.name, shell.err))
        if not shell.confirm(texts.RELEARN_QUESTION, flag_given=yes, enter_means=True):
            raise Failed(texts.NOT_RELEARNED)
        began = time.monotonic()
        relearned = _relearn(shell, client, _Asked(place, since, preview["model"], quiet=as_json), accept_few=yes)
    if as_json:
        shell.print_json(relearned)
    else:
        took = relearning_screen.Took(preview["model"], time.monotonic() - began, _command(project, since))
        shell.print(relearning_screen.done(relearned, took, shell.out))
    return 1 if relearned["stopped_because"] else 0


def _read_graph(shell: Shell, client: Client, place: Project, since: str | None, *, as_json: bool) -> int:
    read = client.read_graph(place.project_id, since=since)
    if as_json:
        shell.print_json(read)
    else:
        counts = {name: counted(read[name], *graph_texts.GRAPH_READ[name]) for name in graph_texts.GRAPH_READ}
        shell.print([f"{shell.out.mark('ok')} {graph_texts.GRAPH_WAS_READ.format(project=place.name, **counts)}"])
    if read["problem"]:
        raise Failed(read["problem"])
    return 0


class _Asked(NamedTuple):
    """What is to be learned again, and which model learns it."""

    place: Project
    since: str | None
    model: str
    quiet: bool


def _relearn(shell: Shell, client: Client, asked: _Asked, *, accept_few: bool) -> dict[str, Any]:
    """Do it; where far less would come than goes, show that and ask, and go on if the answer is yes."""
    doing = texts.RELEARNING_PROJECT.format(project=asked.place.name)
    left = progress.of_project(asked.place.namespace, "relearning_event_count")
    watched = progress.Watched(doing, left, events)
    with progress.shown(shell, watched, is_wanted=not asked.quiet):
        relearned = client.relearn(asked.place.project_id, since=asked.since, accept_few=accept_few)
    if relearned["too_little"] is None or asked.quiet or not shell.can_ask:
        return relearned
    shell.say(relearning_screen.too_little(relearned, asked.model, shell.err))
    if not shell.confirm(texts.TOO_LITTLE_QUESTION, flag_given=False):
        return relearned
    return _together(relearned, _relearn(shell, client, asked, accept_few=True))


def _together(first: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """Two parts of one relearning as one."""
    added = {name: first[name] + then[name] for name in ("events", "records", "replaced", "protected", "batches")}
    return {**then, **added}


def _command(project: str, since: str | None) -> str:
    """The same again."""
    options = [*(["--project", project] if project else []), *(["--since", since] if since else [])]
    return shlex.join(["kiro-learn", "relearn", *options])


def _preview(client: Client, place: Project, since: str | None) -> dict[str, Any] | None:
    """What would be done; None if there is nothing to do."""
    try:
        preview = client.relearning(place.project_id, since=since)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return None  # a folder that no agent has worked in yet
    return preview if preview["records"] else None


def _say_nothing_to_do(shell: Shell, place: Project, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(NOTHING)
    else:
        shell.print([f"{shell.out.mark('ok')} {texts.NOTHING_TO_RELEARN.format(project=place.name)}"])


def _say_what_would_be_done(shell: Shell, preview: dict[str, Any], place: Project, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(preview)
    else:
        lines = relearning_screen.to_do(preview, place.name, shell.out)
        shell.print([*lines, *relearning_screen.would_go(preview, shell.out)])
