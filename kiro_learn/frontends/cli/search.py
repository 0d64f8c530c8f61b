"""search: asks, and says which way each memory was found."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import Any

import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import activity_texts, projects, search_screen, texts
from kiro_learn.frontends.cli.options import in_projects, printing, since_option, typed
from kiro_learn.frontends.cli.search_screen import Hit
from kiro_learn.frontends.cli.shell import Failed, Shell

MODES = ("hybrid", "lexical", "semantic", "syntax")
BY_WORDS = "kiro-learn search --mode lexical"

UNAVAILABLE = 503


def _end(_context: click.Context, _option: click.Parameter, text: str) -> str | None:
    """A time without a zone is in the zone of this machine; a date is part of what is searched."""
    if not text:
        return None
    try:
        is_date = len(text) <= len("2026-01-05")
        return (datetime.fromisoformat(text) + timedelta(days=is_date)).astimezone().isoformat()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(texts.WRONG_TIME) from error


@click.command("search", help=texts.SEARCH_HELP)
@click.argument("query", nargs=-1, required=True, type=typed)
@click.option("--mode", type=click.Choice(MODES), default=MODES[0], show_default=True, help=texts.MODE_HELP)
@click.option("--type", metavar="TYPE", multiple=True, help=activity_texts.TYPE_HELP)
@since_option
@click.option("--until", default="", metavar="DATE|TIME", callback=_end, help=activity_texts.UNTIL_HELP)
@click.option("--session", metavar="ID", type=typed, help=activity_texts.FROM_SESSION_HELP)
@click.option("--concept", metavar="WORD", type=typed, help=activity_texts.WITH_CONCEPT_HELP)
@click.option("--file", metavar="PATH", type=typed, help=activity_texts.WITH_FILE_HELP)
@click.option("--stale", is_flag=True, help=activity_texts.ONLY_STALE_HELP)
@click.option("--branch", metavar="NAME", type=typed, help=activity_texts.ON_BRANCH_HELP)
@click.option("--explain", is_flag=True, help=activity_texts.EXPLAIN_HELP)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help=texts.LIMIT_HELP)
@in_projects
@printing
def search_verb(
    shell: Shell,
    *,
    query: tuple[str, ...],
    type: tuple[str, ...],  # noqa: A002  # as it is typed
    stale: bool,
    explain: bool,
    project: str,
    everywhere: bool,
    as_json: bool,
    **wanted: Any,
) -> None:
    asked = " ".join(query)
    if not asked.strip():
        raise Failed(texts.NOTHING_ASKED, hint=texts.SEE_HELP.format(command="kiro-learn search"), exit_code=2)
    with shell.client() as client:
        place = {} if everywhere else _place(client, project)
        wanted |= {"type": list(type), "stale": "true" if stale else None, **place}
        if as_json:
            shell.print_json(client.ask(asked, **wanted))
            return
        found = _found(client, asked, **wanted)
    hits = [_hit(hit, is_named=everywhere) for hit in found["hits"]]
    summary = search_screen.Summary(
        query=asked,
        project=texts.ALL_PROJECTS if everywhere else projects.name_of(found["project"]["display_name"]),
        latency_ms=found["latency_ms"],
        elsewhere_count=found["elsewhere_count"],
        looked_at_count=found["memory_count"],
    )
    shell.say(search_screen.warnings(found, shell.err))
    shell.print((search_screen.explained if explain else search_screen.hits)(hits, shell.now(), shell.out))
    shell.print(search_screen.summary(summary, len(hits), shell.out))


def _found(client: Client, query: str, *, mode: str, **wanted: Any) -> dict[str, Any]:
    """What was found.

    Raises:
      Failed: the query does not parse, or cannot be searched by meaning.
    """
    try:
        return client.ask(query, mode=mode, **wanted)
    except RequestRefused as error:
        for detail in error.details:
            if "position" in detail:
                message = activity_texts.DOES_NOT_PARSE.format(
                    character=detail["position"] + 1, problem=detail["problem"]
                )
                hint = activity_texts.DOES_NOT_PARSE_HINT.format(command=BY_WORDS)
                raise Failed(message, hint=hint) from error
        if mode == "semantic" and error.status == UNAVAILABLE:
            raise Failed(str(error), hint=BY_WORDS) from error
        raise


def _place(client: Client, project: str) -> dict[str, Any]:
    """Where to search; only the name of a project has to be looked up first."""
    folder = projects.folder_in(project)
    if folder is None:
        return {"namespace": projects.meant(client, project).namespace}
    return {"cwd": os.path.abspath(folder)}  # noqa: PTH100  # Path.absolute() leaves ".." in


def _hit(hit: dict[str, Any], *, is_named: bool) -> Hit:
    return Hit(
        record=hit["memory"],
        project=projects.name_of(hit["project"]) if is_named else "",
        rank=hit["rank"],
        score=hit["score"],
        found_by=tuple(hit["found_by"]),
        parts=hit["parts"],
    )
