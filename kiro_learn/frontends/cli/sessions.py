"""sessions: those of a project, and where one stands."""

from __future__ import annotations

import click

from kiro_learn.client import project_calls
from kiro_learn.client.building import RequestRefused
from kiro_learn.frontends.cli import activity, activity_texts, memory_screen, projects, texts
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing
from kiro_learn.frontends.cli.record_ids import UNKNOWN
from kiro_learn.frontends.cli.shell import Failed, Shell

MOST = 200


@click.group("sessions", cls=ListsAlone, help=activity_texts.SESSIONS_HELP)
def sessions_verb() -> None:
    """Only a name for those inside."""


@sessions_verb.command("list", help=activity_texts.SESSIONS_LIST_HELP)
@click.option("--limit", type=click.IntRange(1, MOST), default=20, show_default=True, help=texts.LIMIT_HELP)
@in_project
@printing
def list_verb(shell: Shell, limit: int, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.sessions(client, limit=limit, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        sessions = client.carry_out(call)
    shell.print(activity.sessions(sessions, shell.now(), shell.out))
    shell.print(activity.sessions_listed(len(sessions), place.name, shell.out, is_full=len(sessions) == limit))


@sessions_verb.command("resume", help=activity_texts.RESUME_HELP)
@click.argument("session", required=False)
@in_project
@printing
def resume_verb(shell: Shell, session: str | None, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        try:
            checkpoint = client.body_of(project_calls.resume(client, session=session, project=place.spelled))
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise
            text = activity_texts.NO_CHECKPOINT if session else activity_texts.NO_CHECKPOINTS
            message = text.format(session=session, project=place.name)
            raise Failed(message, hint="kiro-learn sessions list") from error
    if as_json:
        shell.print_json(checkpoint)
    else:
        shell.print(memory_screen.memory(checkpoint, place.name, shell.now(), shell.out))
