"""pause, resume: nothing is taken in from hooks meanwhile, and nothing told."""

from __future__ import annotations

import click

from kiro_learn.client import json_calls
from kiro_learn.frontends.cli import pause_texts, projects, texts
from kiro_learn.frontends.cli.options import in_project, printing
from kiro_learn.frontends.cli.shell import Shell


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
