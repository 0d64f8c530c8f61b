"""flush: what would be learned by itself, now."""

from __future__ import annotations

import time
from typing import Any

import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import progress, projects, texts
from kiro_learn.frontends.cli.options import in_project, printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import duration, events, memories

UNKNOWN = 404
NOTHING = {"events": 0, "records": 0, "parked": 0}


@click.command("flush", help=texts.FLUSH_HELP)
@in_project
@printing
def flush_verb(shell: Shell, project: str, as_json: bool) -> None:
    began = time.monotonic()
    with shell.client() as client:
        place = projects.meant(client, project)
        with progress.shown(shell, _waiting_in(place), is_wanted=not as_json):
            flushed = _flush(client, place)
    if as_json:
        shell.print_json(flushed)
    else:
        shell.print(flushed_lines(flushed, place.name, time.monotonic() - began, shell))


def flushed_lines(flushed: dict[str, Any], project: str, seconds: float, shell: Shell) -> list[str]:
    """What was learned, and what was not."""
    learned = texts.LEARNED_INTO.format(events=events(flushed["events"]), memories=memories(flushed["records"]))
    said = learned if flushed["events"] else texts.NOTHING_WAITED.format(project=project)
    lines = [f"{shell.out.mark('ok')} {texts.DOT.join((said, duration(seconds)))}"]
    if flushed["parked"]:
        waiting = texts.STILL_WAIT.format(events=events(flushed["parked"]))
        lines.append(f"{shell.out.mark('warning')} {waiting}")
    return lines


def _flush(client: Client, place: Project) -> dict[str, Any]:
    try:
        return client.flush(place.project_id)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return NOTHING  # a folder that no agent has worked in yet


def _waiting_in(place: Project) -> progress.Watched:
    left = progress.of_project(place.namespace, "waiting_event_count")
    return progress.Watched(texts.LEARNING_PROJECT.format(project=place.name), left, events)
